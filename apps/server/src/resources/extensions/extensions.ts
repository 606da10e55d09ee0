import type { Page } from "@shoal/contract";
import { containsFolded, type Database, folded, outageOf } from "@shoal/database";
import { type BytesReply, type MultipartPart, ServiceError } from "@shoal/router";
import { type Extension, type ListExtensions, SlugName } from "@shoal/schemas";
import type { Readable } from "node:stream";
import type * as z from "zod/mini";
import { badField } from "../../http/bad-field.ts";
import { type Blobs, type HashedBlob, putHashed, sweepBlobs } from "../../storage/blobs/blobs.ts";
import { BlobTooLarge } from "../../storage/blobs/measured-content.ts";
import { isUniqueViolation } from "../../storage/errors/database-errors.ts";
import { createId } from "@shoal/primitives";
import { emptyPage, isStorable, newestFirst, toPage } from "../../http/paging.ts";
import { checkExtensionArchive, maxArchiveBytes } from "./archive-rules.ts";

interface ExtensionRow {
  readonly id: string;
  readonly name: string | null;
  readonly blob: string;
  readonly size_bytes: number;
  readonly checksum: string;
  readonly created_at: string;
  readonly last_used_at: string | null;
}

const columns = ["id", "name", "blob", "size_bytes", "checksum", "created_at", "last_used_at"] as const;
/** The path of another operation. */
const reservedName = "from_chrome_store";

function toExtension(row: ExtensionRow): Extension {
  return {
    id: row.id,
    name: row.name,
    created_at: row.created_at,
    size_bytes: row.size_bytes,
    checksum: row.checksum,
    last_used_at: row.last_used_at,
  };
}

function notFound(idOrName: string): ServiceError {
  return new ServiceError(404, "not_found", `Extension ${idOrName} was not found in this project.`, {
    hint: "List the extensions with extensions.list, or upload it with extensions.upload.",
  });
}

function checkName(value: string): string {
  const { error } = SlugName.safeParse(value);
  if (error !== undefined) throw badField("name", `expected 1 to 255 letters, digits, dots, underscores and hyphens`);
  if (value === reservedName)
    throw badField("name", `must not be ${reservedName}, which is the path of another operation`);
  return value;
}

export class Extensions {
  readonly #blobs: Blobs;
  readonly #query: import("kysely").Kysely<import("@shoal/database").Tables>;

  constructor(parts: { readonly database: Database; readonly blobs: Blobs }) {
    const { blobs } = parts;
    this.#blobs = blobs;
    const { query } = parts.database;
    this.#query = query;
  }

  async upload(projectId: string, incoming: AsyncIterable<MultipartPart>): Promise<Extension> {
    const { name, blob } = await this.#take(incoming);
    const row = {
      id: createId(),
      project_id: projectId,
      name: name ?? null,
      blob: blob.name,
      size_bytes: blob.sizeBytes,
      checksum: blob.sha256,
      created_at: new Date().toISOString(),
      last_used_at: null,
    };
    try {
      await this.#query.insertInto("extensions").values(row).execute();
    } catch (error) {
      // After a broken connection the row may exist: keep the archive; a sweep removes it if the row does not exist.
      if (outageOf(error) === undefined) await this.#blobs.delete(blob.name);
      if (name === undefined || !isUniqueViolation(error)) throw error;
      throw new ServiceError(409, "name_taken", `An extension named ${name} already exists in this project.`, {
        hint: "Choose another name, or delete that extension first.",
      });
    }
    return toExtension(row);
  }

  async list(
    projectId: string,
    { query: part, name, limit, offset }: z.output<typeof ListExtensions>,
  ): Promise<Page<Extension>> {
    if (!isStorable(part) || !isStorable(name)) return emptyPage();
    let rows = this.#query.selectFrom("extensions").select(columns).where("project_id", "=", projectId);
    if (part !== undefined)
      rows = rows.where((where) => where.or([containsFolded("name_folded", part), where("id", "=", part)]));
    if (name !== undefined) rows = rows.where("name_folded", "=", folded(name));
    const found = await newestFirst(rows, { limit, offset }).execute();
    return toPage(found, { limit, offset }, toExtension);
  }

  async get(projectId: string, idOrName: string): Promise<Extension> {
    return toExtension(await this.#existing(projectId, idOrName));
  }

  async download(projectId: string, idOrName: string): Promise<BytesReply> {
    const row = await this.#existing(projectId, idOrName);
    return { ...(await this.#archiveOf(row)), fileName: `${row.name ?? row.id}.zip` };
  }

  /** Accepts ids and names; removes duplicates, preserves the order. @throws {ServiceError} 404. */
  async choose(
    projectId: string,
    wanted: readonly { readonly id?: string | undefined; readonly name?: string | undefined }[],
  ): Promise<readonly string[]> {
    const ids = new Set<string>();
    for (const { id, name } of wanted) ids.add((await this.#existing(projectId, id ?? name ?? "")).id);
    return [...ids];
  }

  /** Records the use. @throws {ServiceError} 404. */
  async open(projectId: string, id: string): Promise<{ readonly name: string; readonly stream: Readable }> {
    const row = await this.#existing(projectId, id);
    const { stream } = await this.#archiveOf(row);
    await this.#query
      .updateTable("extensions")
      .set({ last_used_at: new Date().toISOString() })
      .where("id", "=", row.id)
      .execute();
    return { name: row.name ?? row.id, stream };
  }

  async delete(projectId: string, idOrName: string): Promise<void> {
    const { id, blob } = await this.#existing(projectId, idOrName);
    const { numDeletedRows } = await this.#query.deleteFrom("extensions").where("id", "=", id).executeTakeFirst();
    if (numDeletedRows === 0n) throw notFound(idOrName);
    // The row is gone; a sweep removes the archive later.
    await this.#blobs.delete(blob).catch(() => undefined);
  }

  /** Removes archives without an extension. @returns their number. */
  sweep(): Promise<number> {
    return sweepBlobs(this.#blobs, async (names) => {
      const rows = await this.#query.selectFrom("extensions").select("blob").where("blob", "in", names).execute();
      return new Set(rows.map(({ blob }) => blob));
    });
  }

  async #existing(projectId: string, idOrName: string): Promise<ExtensionRow> {
    const rows = isStorable(idOrName)
      ? await this.#query
          .selectFrom("extensions")
          .select(columns)
          .where("project_id", "=", projectId)
          .where((where) => where.or([where("id", "=", idOrName), where("name", "=", idOrName)]))
          .execute()
      : [];
    const row = rows.find(({ id }) => id === idOrName) ?? rows[0];
    if (row === undefined) throw notFound(idOrName);
    return row;
  }

  async #store(stream: Readable): Promise<HashedBlob> {
    try {
      return await putHashed(this.#blobs, stream, { maxBytes: maxArchiveBytes, check: checkExtensionArchive });
    } catch (error) {
      if (!(error instanceof BlobTooLarge)) throw error;
      throw new ServiceError(
        413,
        "payload_too_large",
        `the limit for the archive of an extension is ${String(maxArchiveBytes / 2 ** 20)} MiB`,
        { cause: error, field: "body.file", hint: "Remove files that the extension does not need." },
      );
    }
  }

  async #archiveOf(row: ExtensionRow): Promise<NonNullable<Awaited<ReturnType<Blobs["get"]>>>> {
    const found = await this.#blobs.get(row.blob);
    if (found === undefined)
      throw new ServiceError(500, "internal_error", `The archive of extension ${row.id} is not ${this.#blobs.place}`);
    return found;
  }

  async #take(incoming: AsyncIterable<MultipartPart>): Promise<{ name: string | undefined; blob: HashedBlob }> {
    let name: string | undefined;
    let blob: HashedBlob | undefined;
    try {
      for await (const part of incoming) {
        if (part.name === "name") {
          if (part.kind === "file") throw badField("name", "must be a text field: send the part without a filename");
          if (name !== undefined) throw badField("name", "is duplicated");
          name = checkName(part.value);
        } else if (part.name === "file") {
          if (part.kind === "field") throw badField("file", "must be a file: send the part with a filename");
          if (blob !== undefined) throw badField("file", "is duplicated");
          blob = await this.#store(part.stream);
        } else throw new TypeError(`The form of extensions has no part ${part.name}.`);
      }
      if (blob === undefined) throw badField("file", "required (expected a ZIP archive)");
    } catch (error) {
      if (blob !== undefined) await this.#blobs.delete(blob.name);
      throw error;
    }
    return { name, blob };
  }
}
