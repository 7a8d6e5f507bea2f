import { LlmprofError } from "../events/errors.ts";
import type { Fact } from "../events/fact.ts";
import { lastPart } from "../events/text.ts";
import { isDevices } from "../machine/disks.ts";
import { isNodes } from "../machine/numa.ts";
import { asDetail } from "../programs/detail.ts";
import { asEngine } from "../programs/engine.ts";
import { type Layer, layers } from "../programs/layers.ts";
import { CLIENT, clientOf } from "../target/clients.ts";
import { isOfInference, weightsIn } from "../target/inference_files.ts";
import { libraryEnding } from "../target/library_name.ts";
import { isSystemsFile, kernelThread } from "../target/system_names.ts";
import type { Header } from "./header.ts";

/** Where a path in a sentence ends. */
const PATH_END = /[\s'"()<>,;:]/;
/** What goes on with it; a full stop at its end is the sentence's. */
const PIECE = `[^\\s'"()<>,;:.]|\\.(?![\\s'"()<>,;:]|$)`;
/** It says itself where it ends. */
const QUOTED = `(?<=(["']))/(?:'\\\\''|(?!\\1|'\\\\'')[^\n])+(?=\\1)`;
/** How a shell is told of a quote between quotes. */
const SHELLS_QUOTE = "'\\''";
/** What a list of processes or containers says behind a number: anybody's command line, a name that a user chose. */
const candidate = /^( {2}--(?:pid|container) \w+ ).*$/gm;
/** Whom a note of those tells of that have the target's library mapped, in recordings whose notes do not say which words are names. */
const sharer = /(?<=^process(?:es)? .*)\d+ \((.*?)\)(?=,| has | have | and )/g;
/** A library without its folders. */
const library = /(?<![\w./-])[\w.+-]+\.(?:so(?:\.\d[\w.]*)?|node)(?![\w-])/g;
/** A model's, or one of those in which Python finds packages as it starts, called by a project that is being worked on. */
const PYTHONS = /\.pth$/i;
/** It has taken a library's place already. */
const OWN = /^path-\d+\./;
/** Shorter texts, unless they are a word, say nothing. */
const TELLING = /^\p{L}[\p{L}\p{N}]$|.../su;
/** Arguments (`-fa on`) that are words of every sentence. */
const PLAIN = /^(as|at|be|by|do|if|in|is|it|no|not|of|off|on|or|so|the|to)$/;

/**
 * What `--redact` shows instead of arguments, of paths outside of the model and of names that a user chose: the same word for the same text
 * within a run. Model files and the libraries of inference engines keep their names, without their folders; so do operators and tensors, and what the
 * system calls the same on every machine, which later code recognises.
 */
export class Pseudonyms {
  readonly #known = new Map<string, string>();
  readonly #counts = new Map<string, number>();

  /**
   * A file, by the last part of its path: more of it is in no trace. What kind of file it is can still be seen. A number is anybody's, a session's or a
   * container's, unless the path says that it is a model's.
   */
  path(path: string): string {
    const name = lastPart(path);
    if ((isOfInference(path) && !PYTHONS.test(name)) || isSystemsFile(path)) return name;
    return this.#of(name, "path", libraryEnding(name) ?? PYTHONS.exec(name)?.[0] ?? (clientOf(name) ? CLIENT : ""));
  }

  /** What a process or a thread calls itself. */
  name(name: string): string {
    const kernels = kernelThread(name);
    if (kernels === undefined) return this.#of(name, "name");
    // In sentences, too.
    if (kernels !== name) this.#known.set(name, kernels);
    return kernels;
  }

  /** A command line: of a model's path there is what is told of that elsewhere. */
  argv([program, ...words]: readonly string[]): string[] {
    if (program === undefined) return [];
    const told = (word: string) => {
      const weights = weightsIn(word);
      return weights === undefined ? this.#of(word, "argument") : this.path(weights);
    };
    return [this.path(program), ...words.map(told)];
  }

  /** A sentence of llmprof's or of another program's: paths in it, and every text that has a pseudonym. */
  prose(text: string): string {
    const listed = text.replaceAll(candidate, "$1");
    const paths = listed.replaceAll(this.#pathsIn(listed), (path) => this.path(unquoted(path)));
    const libraries = paths.replaceAll(library, (name) => OWN.test(name) ? name : this.path(name));
    // Also what a path has just been called.
    return libraries.replaceAll(this.#knownIn(libraries), (word) => this.#known.get(unquoted(word))!);
  }

  header(header: Header): Header {
    if (header.options.redact) return header;
    const { target, bpftrace, options, host } = header;
    return {
      ...header,
      // Words of llmprof's own, whatever else they may be on the target's command line.
      options: {
        ...this.#texts(options),
        ...(options.detail !== undefined && { detail: asDetail(options.detail) }),
        ...(options.engine !== undefined && { engine: asEngine(options.engine) }),
        ...(options.layers !== undefined && { layers: layersIn(options.layers) }),
        redact: true,
      },
      target: { ...target, argv: this.argv(target.argv) },
      host: { ...this.#texts(host), ...ofTheMachine(host) },
      bpftrace: bpftrace && { ...bpftrace, path: this.path(bpftrace.path) },
    };
  }

  fact(fact: Fact): Fact {
    switch (fact.fact) {
      case "program":
        return { ...fact, sites: fact.sites.map((site) => ({ ...site, site: this.#site(site.site) })) };
      case "table":
        return { ...fact, file: this.path(fact.file) };
      case "code":
        return { ...fact, ranges: fact.ranges.map((range) => ({ ...range, file: this.path(range.file) })) };
      case "places":
        return { ...fact, places: fact.places.map((place) => ({ ...place, file: this.path(place.file) })) };
      case "mapped":
        return { ...fact, files: fact.files.map((mapped) => ({ ...mapped, file: this.path(mapped.file) })) };
      case "opened":
        return { ...fact, files: fact.files.map((opened) => ({ ...opened, file: this.path(opened.file) })) };
      case "names":
        return { ...fact, name: this.name(fact.name), threads: fact.threads.map((thread) => ({ ...thread, name: this.name(thread.name) })) };
      case "engine":
        // One of Hugging Face's is called by no file.
        return { ...fact, model: fact.model && (/^[\w.-]+$/.test(fact.model) && !PYTHONS.test(fact.model) ? fact.model : this.path(fact.model)) };
      case "note": {
        // The sentence last: it is told with what names stand for by then.
        const files = fact.files?.map((file) => this.path(file)), names = (fact.names ?? sharersIn(fact.text)).map((name) => this.name(name));
        return { ...fact, ...files && { files }, ...fact.names && { names }, text: this.prose(fact.text) };
      }
      default:
        return fact;
    }
  }

  /** The same failure in words that tell nothing; what caused it is told by nobody. */
  error(error: unknown): unknown {
    if (!(error instanceof Error)) return new Error(this.prose(String(error)));
    const told = error instanceof LlmprofError
      ? new LlmprofError(error.exitCode, this.prose(error.what), this.prose(error.why), this.prose(error.next))
      : new Error(this.prose(error.message));
    told.stack = this.prose(error.stack ?? "");
    return told;
  }

  /** `libllama.so:llama_decode+4`, `return of …`; a tracepoint has no file. */
  #site(label: string): string {
    if (label.startsWith("tracepoint:")) return label;
    const found = /^(return of )?(.*):([^:]+)$/s.exec(label);
    return found ? `${found[1] ?? ""}${this.path(found[2]!)}:${found[3]}` : this.prose(label);
  }

  /** Paths and what is known, as far as they go: a blank that is in something known does not end them. */
  #pathsIn(text: string): RegExp {
    const known = this.#knownIn(text, PATH_END).source;
    return new RegExp(`${QUOTED}|(?:(?<![\\w.])(?=/(?:${PIECE}))|(?=${known}))(?:${known}|${PIECE})+`, "gu");
  }

  /** Texts that have a pseudonym, where they are no part of a longer word: the longest of those that fit. */
  #knownIn(text: string, having = /./s): RegExp {
    const plain = unquoted(text);
    const isTelling = (secret: string) => TELLING.test(secret) && !PLAIN.test(secret) && having.test(secret);
    const known = [...this.#known.keys()].filter((secret) => isTelling(secret) && plain.includes(secret));
    const spelled = known.sort((a, b) => b.length - a.length).map((secret) =>
      secret.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&").replaceAll("'", "(?:'|'\\\\'')")
    );
    return new RegExp(`(?<![\\p{L}\\p{N}])(?:${spelled.join("|") || "(?!)"})(?![\\p{L}\\p{N}])`, "gu");
  }

  #texts<T extends Readonly<Record<string, unknown>>>(values: T): T {
    return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, typeof value === "string" ? this.prose(value) : value])) as T;
  }

  #of(text: string, kind: string, end = ""): string {
    if (text === "") return text;
    let pseudonym = this.#known.get(text);
    if (pseudonym === undefined) {
      const number = (this.#counts.get(kind) ?? 0) + 1;
      this.#counts.set(kind, number);
      this.#known.set(text, pseudonym = `${kind}-${number}${end}`);
    }
    return pseudonym;
  }
}

function unquoted(text: string): string {
  return text.replaceAll(SHELLS_QUOTE, "'");
}

function sharersIn(note: string): string[] {
  return [...note.matchAll(sharer)].map(([, name]) => name!);
}

/** Layers that there are. */
function layersIn(told: unknown): string {
  return String(told).split(",").filter((layer) => layers.includes(layer as Layer)).join();
}

/** What the kernel numbers and names itself. */
const OF_THE_MACHINE = new Map([["nodes", isNodes], ["devices", isDevices]]);

function ofTheMachine(host: Header["host"]): Header["host"] {
  return Object.fromEntries(Object.entries(host).filter(([name, value]) => OF_THE_MACHINE.get(name)?.(String(value))));
}
