import type { Frame, FromBox } from "@shoal/app-runner";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { Duplex, type Readable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import type * as z from "zod/mini";
import type { AppRunner } from "./load-app-runner.ts";

export type Message = z.infer<typeof FromBox>;
export type OnLine = (source: "stdout" | "stderr", text: string) => void;

interface Start {
  readonly script: "runner.cjs" | "builder.cjs";
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
  readonly onLine: OnLine;
}

const channelDescriptor = 3;
/** Milliseconds for the last lines of a program that has sent its result. */
const lastLinesMs = 2_000;

/** A program of `@shoal/app-runner` without a box. */
export class LocalProgram {
  readonly #runner: AppRunner;
  readonly #child: ChildProcess;
  readonly #channel: Duplex;
  readonly #frames: AsyncGenerator<Frame, undefined>;
  /** Never rejects. */
  readonly ended: Promise<void>;

  constructor(runner: AppRunner, { script, folder, env, onLine }: Start) {
    this.#runner = runner;
    this.#child = spawn(process.execPath, [join(runner.appRunnerFolder, script), String(channelDescriptor)], {
      cwd: folder,
      env,
      stdio: ["ignore", "pipe", "pipe", "pipe"],
      // Ctrl-C must reach the command alone, and `stop` the programs that the app started.
      detached: process.platform !== "win32",
    });
    const channel: unknown = this.#child.stdio[channelDescriptor];
    if (!(channel instanceof Duplex)) throw new Error("The program has no channel.");
    this.#channel = channel;
    channel.on("error", () => undefined);
    this.#frames = this.#read();
    this.ended = once(this.#child, "close").then(
      () => undefined,
      () => undefined,
    );
    follow(this.#child.stdout, (text) => {
      onLine("stdout", text);
    });
    follow(this.#child.stderr, (text) => {
      onLine("stderr", text);
    });
  }

  get isEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  send(message: object): void {
    this.#channel.write(this.#runner.encodeMessage(message));
  }

  sendValue(text: string): void {
    this.#channel.write(this.#runner.encodeFrame("value", Buffer.from(text)));
  }

  /** @returns the next message and the value before it; `undefined` at the end. */
  async message(): Promise<{ readonly message: Message; readonly value?: string } | undefined> {
    let value: string | undefined;
    for (;;) {
      const frame = (await this.#frames.next()).value;
      if (frame === undefined) return undefined;
      const text = frame.content.toString("utf8");
      if (frame.kind === "message")
        return { message: this.#runner.FromBox.parse(JSON.parse(text)), ...(value !== undefined && { value }) };
      value = text;
    }
  }

  /** Waits for the last lines, then ends the rest. */
  async settle(): Promise<string> {
    await Promise.race([this.ended, delay(lastLinesMs, undefined, { ref: false })]);
    await this.stop();
    const { exitCode, signalCode } = this.#child;
    return signalCode ?? `exit code ${String(exitCode)}`;
  }

  /** Resolves when the program and the programs that it started have ended. */
  async stop(): Promise<void> {
    const { pid } = this.#child;
    try {
      if (pid !== undefined && process.platform !== "win32") process.kill(-pid, "SIGKILL");
      else this.#child.kill("SIGKILL");
    } catch {
      // It has ended.
    }
    await this.ended;
  }

  async *#read(): AsyncGenerator<Frame, undefined> {
    const reader = new this.#runner.FrameReader(this.#runner.maxFrameBytes);
    try {
      for await (const chunk of this.#channel) yield* reader.read(chunk as Buffer);
    } catch {
      // A killed program resets its channel.
    }
    return undefined;
  }
}

function follow(stream: Readable | null, onLine: (text: string) => void): void {
  if (stream !== null) createInterface({ input: stream, crlfDelay: Infinity }).on("line", onLine);
}
