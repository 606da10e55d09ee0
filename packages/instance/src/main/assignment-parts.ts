import { type MultipartPart, ServiceError } from "@shoal/router";
import type { Readable } from "node:stream";
import * as z from "zod/mini";
import { AssignInstance } from "../protocol/protocol.ts";

/** Reads the parts of `assignWithFiles` in their order: `assign`, then extensions, then `profile`. */
export class AssignmentParts {
  readonly #parts: AsyncIterator<MultipartPart>;
  #part: MultipartPart | undefined;

  constructor(parts: AsyncIterable<MultipartPart>) {
    this.#parts = parts[Symbol.asyncIterator]();
  }

  async assign(): Promise<AssignInstance> {
    await this.#advance();
    if (this.#part?.kind !== "field" || this.#part.name !== "assign")
      throw new ServiceError(400, "bad_request", "must be the first part, as a text field", { field: "assign" });
    const { value } = this.#part;
    await this.#advance();
    return parseAssign(value);
  }

  get hasExtensions(): boolean {
    return this.#part?.name.startsWith("extensions[") === true;
  }

  async *extensions(): AsyncGenerator<MultipartPart, void, undefined> {
    while (this.#part !== undefined && this.hasExtensions) {
      yield this.#part;
      await this.#advance();
    }
  }

  /** The archive, once the extensions are read. @throws {ServiceError} 400 for another part. */
  profile(): Readable | undefined {
    if (this.#part === undefined) return undefined;
    if (this.#part.kind === "file" && this.#part.name === "profile") return this.#part.stream;
    throw new ServiceError(
      400,
      "bad_request",
      "is not expected here; send assign, then extensions, then the file profile",
      {
        field: this.#part.name,
      },
    );
  }

  async #advance(): Promise<void> {
    const next = await this.#parts.next();
    this.#part = next.done === true ? undefined : next.value;
  }
}

function parseAssign(text: string): AssignInstance {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    throw new ServiceError(400, "bad_request", "must be JSON", { field: "assign" });
  }
  const result = z.safeParse(AssignInstance, parsed);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw new ServiceError(400, "bad_request", issue?.message ?? "is invalid", {
    field: ["assign", ...(issue?.path ?? [])].map(String).join("."),
  });
}
