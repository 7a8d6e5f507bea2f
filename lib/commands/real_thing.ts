/** What a demo says first: the line to type for a process of one's own. */
export const realThing = "For a process of yours: sudo llmprof operators --pid N --duration 10s   (can this machine trace? llmprof doctor)\n";
