/** Field numbers of Perfetto's trace format, as in its `protos/perfetto/trace/`: only those that are written. */

export const Trace = { packet: 1 } as const;

export const TracePacket = {
  clockSnapshot: 6,
  timestamp: 8,
  sequenceId: 10,
  trackEvent: 11,
  internedData: 12,
  sequenceFlags: 13,
  compressedPackets: 50,
  timestampClock: 58,
  defaults: 59,
  trackDescriptor: 60,
  /** No field that there is: readers pass over it. */
  unknown: 2047,
} as const;

/**
 * The first packet says that nothing interned before it counts. That a packet refers to interned things (2) is for a reader that lost some of the sequence, to
 * skip it: no packet of a file is lost, and a slice is four bytes shorter.
 */
export const SequenceFlags = { incrementalStateCleared: 1 } as const;

export const ClockSnapshot = { clocks: 1, primaryTraceClock: 2 } as const;
export const SnapshotClock = { id: 1, timestamp: 2, isIncremental: 3 } as const;
export const BuiltinClock = { realtime: 1, boottime: 6 } as const;
/** Numbers from 64 to 127 are clocks of one sequence. */
export const OWN_CLOCK = 64;

/** What packets of a sequence mean where they do not say it. */
export const TracePacketDefaults = { trackEvent: 11, timestampClock: 58 } as const;
export const TrackEventDefaults = { trackUuid: 11 } as const;

export const TrackDescriptor = {
  uuid: 1,
  name: 2,
  process: 3,
  thread: 4,
  parentUuid: 5,
  counter: 8,
  childOrdering: 11,
  siblingOrderRank: 12,
  siblingMergeBehavior: 15,
} as const;
export const ChildOrdering = { explicit: 3 } as const;
export const SiblingMerge = { none: 2 } as const;
export const ProcessDescriptor = { pid: 1, name: 6 } as const;
export const ThreadDescriptor = { pid: 1, tid: 2, name: 5 } as const;
export const CounterDescriptor = { unit: 3, unitName: 6 } as const;
export const CounterUnit = { nanoseconds: 1, count: 2, bytes: 3 } as const;

export const TrackEvent = {
  categoryIids: 3,
  debugAnnotations: 4,
  type: 9,
  nameIid: 10,
  trackUuid: 11,
  categories: 22,
  name: 23,
  counterValue: 30,
  doubleCounterValue: 44,
  flowIds: 47,
  terminatingFlowIds: 48,
} as const;
export const TrackEventType = { sliceBegin: 1, sliceEnd: 2, instant: 3, counter: 4 } as const;

export const DebugAnnotation = { nameIid: 1, bool: 2, int: 4, double: 5, string: 6, name: 10, stringIid: 17 } as const;

export const InternedData = { categories: 1, eventNames: 2, annotationNames: 3, annotationStrings: 29 } as const;
export const Interned = { iid: 1, text: 2 } as const;
