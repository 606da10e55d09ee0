import { type AssignInstance, instanceControl } from "@shoal/instance";
import { randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import type { SessionFiles } from "../interface/session-files.ts";
import { callInstance, checkAnswer, InstanceRefusal, type Requestable } from "./call-instance.ts";

export interface AssignOptions {
  readonly files?: SessionFiles | undefined;
  readonly signal?: AbortSignal;
}

/** Milliseconds. */
export const assignMs = 10_000;
const assignWithLaunchMs = 60_000;
/** Milliseconds; enough to unpack a gigabyte on a busy machine. */
const assignWithFilesMs = 120_000;

/**
 * Hands an instance to a session, or changes the settings of its session.
 * @throws {InstanceRefusal} with `field` `extensions` or `profile` for a refused file. @throws {PlacementError}
 */
export async function assignInstance(
  instance: Requestable,
  assign: AssignInstance,
  { files = {}, signal }: AssignOptions = {},
): Promise<void> {
  const { assign: plain, assignWithFiles } = instanceControl;
  if (files.profile === undefined && (files.extensions ?? []).length === 0) {
    await callInstance(instance, plain, { body: assign, ...(signal && { signal }) });
    return;
  }
  const body = new AssignmentBody(assign, files);
  const source = Readable.from(body, { objectMode: false });
  try {
    const { method, path } = assignWithFiles;
    const headers = { "content-type": `multipart/form-data; boundary=${body.boundary}` };
    const answer = await instance.request({ method, path, headers, ...(signal && { signal }) }, source);
    await checkAnswer(answer, assignWithFiles);
  } catch (error) {
    // A file that cannot be read appears as a broken connection.
    throw body.failure ?? error;
  } finally {
    source.destroy();
  }
}

const ownFaults: ReadonlySet<string> = new Set(["shutting_down", "conflict", "internal_error"]);

/** Whether the refusal says nothing about the session, so that another instance may accept it. */
export function isOwnFault(error: unknown): boolean {
  return error instanceof InstanceRefusal && error.field === undefined && ownFaults.has(error.code);
}

export function deadlineOf({ authorities, launch }: AssignInstance, files: AssignOptions["files"]): number {
  if (files !== undefined) return assignWithFilesMs;
  return launch === undefined && authorities === undefined ? assignMs : assignWithLaunchMs;
}

class AssignmentBody implements AsyncIterable<Buffer | string> {
  readonly boundary = randomBytes(16).toString("hex");
  failure: unknown;
  readonly #assign: AssignInstance;
  readonly #files: SessionFiles;

  constructor(assign: AssignInstance, files: SessionFiles) {
    this.#assign = assign;
    this.#files = files;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer | string, void, undefined> {
    const { extensions = [], profile } = this.#files;
    yield this.#field("assign", JSON.stringify(this.#assign));
    for (const [index, open] of extensions.entries()) {
      const { name, stream } = await this.#noting(open);
      yield this.#field(`extensions[${String(index)}][name]`, name);
      yield* this.#file(`extensions[${String(index)}][zip_file]`, stream);
    }
    if (profile !== undefined) yield* this.#file("profile", await this.#noting(profile));
    yield `--${this.boundary}--\r\n`;
  }

  #field(name: string, value: string): string {
    return `--${this.boundary}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
  }

  async *#file(name: string, stream: Readable): AsyncGenerator<Buffer | string, void, undefined> {
    stream.once("error", (error) => (this.failure = error));
    try {
      yield `--${this.boundary}\r\ncontent-disposition: form-data; name="${name}"; filename="archive"\r\ncontent-type: application/octet-stream\r\n\r\n`;
      yield* stream as AsyncIterable<Buffer>;
      yield "\r\n";
    } finally {
      stream.destroy();
    }
  }

  async #noting<T>(open: () => Promise<T>): Promise<T> {
    try {
      return await open();
    } catch (error) {
      this.failure = error;
      throw error;
    }
  }
}
