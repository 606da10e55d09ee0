import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import type { Readable, Writable } from "node:stream";
import { authorityPath } from "../../system/authority-path.ts";
import { findProgram } from "../../system/find-program.ts";

export interface XServer {
  readonly number: number;
  /** As latin1. */
  readonly cookie: string;
  readonly exited: Promise<void>;
  /** Stops the server, which removes its lock file. */
  stop(): void;
}

export interface XServerOptions {
  /** For the cookie file, see `authorityPath`. */
  readonly sessionDir: string;
  /** Largest possible, in pixels. */
  readonly width: number;
  readonly height: number;
  readonly onLine: (line: string) => void;
}

const startTimeoutMs = 20_000;
/** A killed server leaves its socket file in `/tmp`. An abstract socket, which only Linux has, needs no file. */
const abstractOnly = process.platform === "linux" ? ["-nolisten", "unix"] : [];

/** @returns `undefined` when Xvfb is not installed. @throws with its last output when it does not start. */
export async function startXServer(options: XServerOptions): Promise<XServer | undefined> {
  const program = await findProgram("Xvfb");
  if (program === undefined) return undefined;
  const cookie = randomBytes(16).toString("latin1");
  const authority = authorityPath(options.sessionDir);
  await writeFile(authority, authorityEntry(cookie), { mode: 0o600 });
  const child = spawn(
    program,
    [
      "-displayfd",
      "3",
      "-screen",
      "0",
      `${String(options.width)}x${String(options.height)}x24`,
      "-nolisten",
      "tcp",
      ...abstractOnly,
      "-noreset",
      "-br",
      "-auth",
      authority,
    ],
    {
      stdio: ["ignore", "ignore", "pipe", "pipe"],
    },
  );
  const exited = new Promise<void>((resolve) => {
    child.once("exit", () => {
      resolve();
    });
    child.once("error", () => {
      resolve();
    });
  });
  const [, , errors, told] = child.stdio;
  if (!isReadable(errors) || !isReadable(told)) throw new Error("Xvfb's pipes could not be created.");
  const lines: string[] = [];
  errors.setEncoding("utf8").on("data", (text: string) => {
    for (const line of text.split("\n").filter((each) => each.trim() !== "")) {
      options.onLine(line.slice(0, 500));
      lines.push(line.slice(0, 500));
    }
    lines.splice(0, lines.length - 10);
  });
  const timer = setTimeout(() => child.kill("SIGKILL"), startTimeoutMs);
  const number = await Promise.race([firstNumber(told), exited.then(() => undefined)]);
  clearTimeout(timer);
  if (number === undefined) throw new Error(`Xvfb did not start. Its last output: ${lines.join(" / ") || "nothing"}`);
  return {
    number,
    cookie,
    exited,
    stop() {
      child.kill("SIGTERM");
    },
  };
}

async function firstNumber(stream: Readable): Promise<number> {
  stream.setEncoding("utf8");
  return new Promise((resolve) => {
    stream.once("data", (text: string) => {
      resolve(Number.parseInt(text, 10));
    });
  });
}

/** Writes one entry of the `xauth` file format, valid for every display of this host. */
function authorityEntry(cookie: string): Buffer {
  const counted = (text: string): Buffer => {
    const bytes = Buffer.from(text, "latin1");
    const length = Buffer.alloc(2);
    length.writeUInt16BE(bytes.length);
    return Buffer.concat([length, bytes]);
  };
  const local = Buffer.from([0x01, 0x00]);
  return Buffer.concat([local, counted(hostname()), counted(""), counted("MIT-MAGIC-COOKIE-1"), counted(cookie)]);
}

function isReadable(stream: Readable | Writable | null | undefined): stream is Readable {
  return stream != null && "read" in stream;
}
