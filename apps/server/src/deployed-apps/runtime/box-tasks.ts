import type { BuilderTask, Frame } from "@shoal/app-runner";
import type { Placement, ProgramBox, ProgramOptions, ProgramPlace } from "@shoal/placement";
import { errorOf } from "@shoal/primitives";
import { once } from "node:events";
import { PassThrough, type Readable } from "node:stream";
import { BuildError } from "./app-runtime.ts";
import { BoxChannel, ChannelFailure, readMessage } from "./box-channel.ts";
import { layout } from "./box-layout.ts";
import { followLines } from "./lines.ts";

export type SentFile = "dependencies" | "artifact" | "fetched";

/** Stores a file that a box sends, or throws. */
export type FileStore = (content: Readable) => Promise<unknown>;

export interface BoxTask {
  readonly program: Omit<ProgramOptions, "command">;
  readonly task: (place: ProgramPlace) => BuilderTask;
  readonly env?: (place: ProgramPlace) => Readonly<Record<string, string>>;
  readonly onLine?: (text: string) => void;
  readonly files?: Readonly<Partial<Record<SentFile, FileStore>>>;
}

/** Runs the builder program in boxes, one task each. */
export class BoxTasks {
  readonly #placement: Placement;
  readonly #programs: string;

  /** @param programs - the folder of the programs on the host. */
  constructor(placement: Placement, programs: string) {
    this.#placement = placement;
    this.#programs = programs;
  }

  /** @throws {BuildError} the reason of the program; errors of the placement, of a store and the signal. */
  async run({ program, task, env, onLine, files = {} }: BoxTask, signal: AbortSignal): Promise<void> {
    let sent: BuilderTask | undefined;
    const box = await this.#placement.startProgram(
      {
        ...program,
        readOnly: [...program.readOnly, { from: this.#programs, to: layout.programs }],
        command(place) {
          sent = task(place);
          return {
            args: [place.pathOf(`${layout.programs}/builder.cjs`), String(place.channel)],
            env: env?.(place) ?? {},
          };
        },
      },
      signal,
    );
    const lines = Promise.all([box.stdout, box.stderr].map((stream) => followLines(stream, (text) => onLine?.(text))));
    const stop = (): void => void box.stop();
    signal.addEventListener("abort", stop, { once: true });
    try {
      const channel = new BoxChannel(box.channel);
      if (sent !== undefined) channel.send(sent);
      await receive(channel, files);
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof ChannelFailure) throw new BuildError(await reasonOf(box, error), { cause: error });
      throw error;
    } finally {
      signal.removeEventListener("abort", stop);
      await box.stop();
      await lines;
    }
    signal.throwIfAborted();
  }
}

/** Takes each file once: a store counts and keeps only one. */
async function receive(channel: BoxChannel, files: NonNullable<BoxTask["files"]>): Promise<void> {
  const missing = new Map(Object.entries(files));
  let file: IncomingFile | undefined;
  try {
    for (;;) {
      const frame: Frame | undefined = await channel.next();
      if (frame === undefined) throw new ChannelFailure("The build ended without a result.");
      if (frame.kind === "bytes") {
        if (file === undefined) throw new ChannelFailure("The build sent unexpected content.");
        await file.write(frame.content);
        continue;
      }
      const message = readMessage(frame);
      if (message.type === "done") return;
      if (message.type === "failed") throw new BuildError(message.reason);
      if (message.type === "file") {
        const store = missing.get(message.name);
        if (store === undefined || file !== undefined) throw new ChannelFailure("The build sent an unexpected file.");
        missing.delete(message.name);
        file = new IncomingFile(store);
      } else if (message.type === "file_end") {
        await file?.end();
        file = undefined;
      } else throw new ChannelFailure("The build sent an unexpected message.");
    }
  } finally {
    await file?.abort();
  }
}

class IncomingFile {
  readonly #content = new PassThrough();
  readonly #stored: Promise<unknown>;
  #error: Error | undefined;

  constructor(store: FileStore) {
    this.#content.on("error", () => undefined);
    this.#stored = store(this.#content).catch((error: unknown) => {
      this.#error = errorOf(error);
      this.#content.destroy();
    });
  }

  async write(bytes: Buffer): Promise<void> {
    if (this.#error === undefined && !this.#content.write(bytes))
      await Promise.race([once(this.#content, "drain").catch(() => undefined), this.#stored]);
    this.#throwError();
  }

  async end(): Promise<void> {
    this.#content.end();
    await this.#stored;
    this.#throwError();
  }

  /** Ends an incomplete file with an error. */
  async abort(): Promise<void> {
    this.#content.destroy(new Error("The file is incomplete."));
    await this.#stored;
  }

  #throwError(): void {
    if (this.#error !== undefined) throw this.#error;
  }
}

async function reasonOf(box: ProgramBox, failure: ChannelFailure): Promise<string> {
  await box.stop();
  const { code, signal } = await box.ended;
  return signal === "SIGKILL" || code === 137
    ? "The build was killed; perhaps it exceeded its memory limit (build_memory_mb)."
    : failure.message;
}
