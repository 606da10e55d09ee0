import type { LogLine } from "../runtime/app-runtime.ts";

/** A place in the log of a deployment. */
export interface LogPosition {
  /** Of a chunk. */
  readonly sequence: number;
  /** Of a line in it. */
  readonly index: number;
}

export interface StoredLine extends LogLine {
  readonly position: LogPosition;
  /** `undefined` = a line of the build. */
  readonly invocation_id: string | undefined;
}

type EncodedLine = readonly [atMs: number, source: "b" | "e" | "o", text: string];

const letters = { build: "b", stderr: "e", stdout: "o" } as const;
const sources = { b: "build", e: "stderr", o: "stdout" } as const;

/** JSON, because PostgreSQL stores neither NUL characters nor lone surrogates. */
export function encodeLine({ at, source, text }: LogLine): string {
  return JSON.stringify([at.getTime(), letters[source], text] satisfies EncodedLine);
}

export function decodeChunk(chunk: {
  readonly sequence: number;
  readonly invocation_id: string | null;
  readonly lines: string;
}): StoredLine[] {
  const { sequence, invocation_id } = chunk;
  return chunk.lines.split("\n").map((line, index) => {
    const [atMs, letter, text] = JSON.parse(line) as EncodedLine;
    return {
      position: { sequence, index },
      invocation_id: invocation_id ?? undefined,
      source: sources[letter],
      text,
      at: new Date(atMs),
    };
  });
}

export function writePosition({ sequence, index }: LogPosition): string {
  return `${String(sequence)}.${String(index)}`;
}

/** Returns `undefined` for text that {@link writePosition} did not write. */
export function readPosition(text: string | undefined): LogPosition | undefined {
  const parts = /^(\d{1,15})\.(\d{1,9})$/.exec(text ?? "");
  return parts === null ? undefined : { sequence: Number(parts[1]), index: Number(parts[2]) };
}
