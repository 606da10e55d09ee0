import { PassThrough } from "node:stream";
import { expect, it } from "vitest";
import type { Terminal } from "../core/types.ts";
import { silentTerminal } from "../testing/silent-terminal.ts";
import { printEvent } from "./event-line.ts";

/** The bytes on stdout and stderr. */
function written(shown: Partial<Pick<Terminal, "progress" | "screen">>, events: readonly object[]) {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const terminal = { ...silentTerminal(), stdout, stderr, ...shown };
  for (const event of events) printEvent(terminal, event, "table");
  return [stdout, stderr].map((stream) => (stream.read() as Buffer | null)?.toString("latin1") ?? "");
}

const piece = (stream: string, bytes: string) => ({
  stream,
  data_b64: Buffer.from(bytes, "latin1").toString("base64"),
});
/** With a character that is cut in two, and an invalid byte. */
const pieces = [piece("stdout", "caf\xc3"), piece("stderr", "\x1b[31m"), piece("stdout", "\xa9\0\xff\x1b[0m\n")];
const exit = { event: "exit", exit_code: 3 };

it("writes the output of a process into files and pipes as it is, and its status next to it", () => {
  expect(written({}, [...pieces, exit])).toEqual(["caf\xc3\xa9\0\xff\x1b[0m\n", "\x1b[31mExited with status 3.\n"]);
});

it("shows whole characters on a screen, and escapes the others", () => {
  const [shown = "", errors] = written({ screen: true, progress: true }, [...pieces, piece("stdout", "\xc3"), exit]);
  const [text, rest] = Buffer.from(shown, "latin1").toString("utf8").split("\n");
  expect(text).toBe("café\\x00\ufffd\\x1b[0m");
  expect(rest).toBe("\ufffdExited with status 3.");
  expect(errors).toBe("\\x1b[31m");
});
