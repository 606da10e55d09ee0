import type { BusboyFileStream, BusboyInstance } from "@fastify/busboy";
import type { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import type * as z from "zod/mini";
import { ClientGone, GuardedStream } from "../guarded-stream.ts";
import type { MultipartPart } from "../../handler/handler.ts";
import { refuseEncoding, tooLarge, unsupported } from "../json-body.ts";
import { canonicalPartName } from "./part-names.ts";
import { badInput, ServiceError } from "../../handler/service-error.ts";

const maxParts = 10_000;
const maxNameLength = 255;
const maxHeaderBytes = 16 * 1024;

/**
 * Reads the request at the pace of its parts. Can be iterated once. Unread files, and parts after an early stop, are
 * dropped.
 */
export class MultipartParts implements AsyncIterable<MultipartPart>, AsyncIterator<MultipartPart, undefined> {
  readonly #request: IncomingMessage;
  readonly #fieldLimitBytes: number;
  readonly #schema: z.core.$ZodType;
  readonly #queue: MultipartPart[] = [];
  #fieldBytes = 0;
  #parser: BusboyInstance | undefined;
  #current: Readable | undefined;
  #waiting: { resolve(result: IteratorResult<MultipartPart, undefined>): void; reject(error: Error): void } | undefined;
  #error: Error | undefined;
  #state: "new" | "reading" | "finished" = "new";

  /**
   * @param fieldLimitBytes - limit of the sum of all text fields. Files are streamed without a limit.
   * @param schema - of the whole form, whose names the parts have.
   * @throws {ServiceError} 415 for another content type.
   */
  constructor(request: IncomingMessage, fieldLimitBytes: number, schema: z.core.$ZodType) {
    const type = request.headers["content-type"] ?? "";
    if (!/^multipart\/form-data(?:\s*;|$)/i.test(type))
      throw unsupported(
        `Send the body with Content-Type: multipart/form-data${type === "" ? "" : `, not ${type.slice(0, 100)}`}.`,
      );
    refuseEncoding(request);
    this.#request = request;
    this.#fieldLimitBytes = fieldLimitBytes;
    this.#schema = schema;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<MultipartPart, undefined>> {
    if (this.#state === "new") await this.#start();
    if (this.#current !== undefined && !this.#current.readableEnded) this.#current.destroy();
    this.#current = undefined;
    const part = this.#queue.shift();
    if (part !== undefined) {
      this.#onDrain();
      return this.#hand(part);
    }
    if (this.#error !== undefined) throw this.#error;
    if (this.#state === "finished") return { done: true, value: undefined };
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.#onDrain();
    });
  }

  return(): Promise<IteratorResult<MultipartPart, undefined>> {
    this.cancel();
    return Promise.resolve({ done: true, value: undefined });
  }

  cancel(): void {
    this.#detach();
    this.#state = "finished";
    for (const part of this.#queue.splice(0)) if (part.kind === "file") part.stream.destroy();
    this.#current?.destroy();
    this.#waiting?.resolve({ done: true, value: undefined });
    this.#waiting = undefined;
    this.#request.resume();
  }

  async #start(): Promise<void> {
    this.#state = "reading";
    // Loaded by the first upload, to keep startup short.
    const { Busboy } = await import("@fastify/busboy");
    const request = this.#request;
    if (request.destroyed && !request.readableEnded) {
      this.#fail(new ClientGone());
      return;
    }
    let parser: BusboyInstance;
    try {
      parser = new Busboy({
        headers: { ...request.headers, "content-type": request.headers["content-type"] ?? "" },
        limits: { fieldSize: this.#fieldLimitBytes, parts: maxParts, headerSize: maxHeaderBytes, headerPairs: 32 },
      });
    } catch (error) {
      this.#fail(
        new ServiceError(400, "bad_request", "the multipart Content-Type has no boundary", {
          cause: error,
          field: "body",
        }),
      );
      return;
    }
    this.#parser = parser;
    parser.on("field", (name, value, _nameTruncated, valueTruncated) => {
      this.#fieldBytes += Buffer.byteLength(value);
      if (valueTruncated || this.#fieldBytes > this.#fieldLimitBytes)
        this.#fail(tooLarge(this.#fieldLimitBytes, "the text fields together are "));
      else {
        const known = this.#nameOf(name);
        if (known !== undefined) this.#arrive({ kind: "field", name: known, value });
      }
    });
    parser.on(
      "file",
      // oxlint-disable-next-line max-params -- the emitter defines the parameters
      (
        name: string | undefined,
        file: BusboyFileStream,
        filename: string | undefined,
        _encoding: string,
        contentType: string,
      ) => {
        const stream = new GuardedStream(file, (error) => this.#error ?? truncated(error));
        const known = this.#state === "reading" ? this.#nameOf(name) : undefined;
        if (known === undefined) stream.destroy();
        else this.#arrive({ kind: "file", name: known, filename: filename ?? "", contentType, stream });
      },
    );
    parser.on("partsLimit", () => {
      this.#fail(
        new ServiceError(413, "payload_too_large", `more than ${maxParts} parts`, { field: "body", limit: maxParts }),
      );
    });
    parser.on("error", (error: unknown) => {
      this.#fail(truncated(error));
    });
    parser.on("finish", () => {
      this.#finish();
    });
    parser.on("drain", this.#onDrain);
    request.on("data", this.#onData);
    request.on("end", this.#onEnd);
    request.on("error", this.#onGone);
    request.on("close", this.#onGone);
  }

  readonly #onData = (chunk: Buffer): void => {
    const more = this.#parser?.write(chunk);
    if (more === false || this.#queue.length > 0) this.#request.pause();
  };
  /** Reads on, unless parts wait for the handler or the parser waits for a file's reader. */
  readonly #onDrain = (): void => {
    if (this.#queue.length === 0 && this.#parser?.writableNeedDrain === false) this.#request.resume();
  };
  readonly #onEnd = (): void => {
    this.#parser?.end();
  };
  readonly #onGone = (): void => {
    if (!this.#request.readableEnded) this.#fail(new ClientGone());
  };

  #nameOf(name = ""): string | undefined {
    try {
      if (name.length > 0 && name.length <= maxNameLength) return canonicalPartName(this.#schema, name);
      throw badInput("body", `every part needs a name of 1 to ${maxNameLength} characters`, { limit: maxNameLength });
    } catch (error) {
      this.#fail(error instanceof Error ? error : new Error(String(error)));
      return undefined;
    }
  }

  #arrive(part: MultipartPart): void {
    if (this.#state !== "reading") return;
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting === undefined) this.#queue.push(part);
    else waiting.resolve(this.#hand(part));
  }

  #hand(part: MultipartPart): IteratorResult<MultipartPart, undefined> {
    if (part.kind === "file") this.#current = part.stream;
    return { done: false, value: part };
  }

  #finish(): void {
    if (this.#state !== "reading") return;
    this.#state = "finished";
    this.#waiting?.resolve({ done: true, value: undefined });
    this.#waiting = undefined;
  }

  #fail(error: Error): void {
    if (this.#state !== "reading") return;
    this.#state = "finished";
    this.#error = error;
    this.#detach();
    for (const part of this.#queue.splice(0)) if (part.kind === "file") part.stream.destroy(error);
    this.#current?.destroy(error);
    this.#waiting?.reject(error);
    this.#waiting = undefined;
    this.#request.resume();
  }

  #detach(): void {
    const request = this.#request;
    request.off("data", this.#onData);
    request.off("end", this.#onEnd);
    this.#parser?.off("drain", this.#onDrain);
  }
}

function truncated(error: unknown): Error {
  return new ServiceError(400, "bad_request", "the multipart body is malformed, or ends before its last boundary", {
    cause: error,
    field: "body",
  });
}
