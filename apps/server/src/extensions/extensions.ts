import type { Page } from "@shoal/contract";
import { containsFolded, type Database, folded, outageOf } from "@shoal/database";
import { type BytesReply, type MultipartPart, ServiceError } from "@shoal/router";
import { type Extension, type ListExtensions, SlugName } from "@shoal/schemas";
import type { Readable } from "node:stream";
import type * as z from "zod/mini";
import { badField } from "../bad-field.ts";
import { type Blobs, BlobTooLarge, type StoredBlob, sweepBlobs } from "../blobs/blobs.ts";
import { isUniqueViolation } from "../database-errors.ts";
import { createId } from "../ids.ts";
import { emptyPage, isStorable, newestFirst, toPage } from "../paging.ts";
import { checkExtensionArchive, maxArchiveBytes } from "./archive-rules.ts";

/** The extensions of every project. */
export interface Extensions {
  upload(projectId: string, parts: AsyncIterable<MultipartPart>): Promise<Extension>;
  list(projectId: string, filter: z.output<typeof ListExtensions>): Promise<Page<Extension>>;
  /** By id, or else by name. */
  get(projectId: string, idOrName: string): Promise<Extension>;
  /** The archive, as it was uploaded. */
  download(projectId: string, idOrName: string): Promise<BytesReply>;
  delete(projectId: string, idOrName: string): Promise<void>;
  /** Ids of those that a request names, each once, in its order. @throws {ServiceError} 404. */
  choose(projectId: string, wanted: readonly { readonly id?: string | undefined; readonly name?: string | undefined }[]): Promise<readonly string[]>;
  /** The archive of one, for a session that starts with it: notes that it was used. @throws {ServiceError} 404. */
  open(projectId: string, id: string): Promise<{ readonly name: string; readonly stream: Readable }>;
  /** Removes archives that belong to no extension. @returns how many. */
  sweep(): Promise<number>;
}

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
/** Another operation lies at this place. */
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
  return new ServiceError(
    404,
    "not_found",
    `Extension ${idOrName} was not found in this project. List the extensions with extensions.list, or upload it with extensions.upload.`,
  );
}

function checkName(value: string): string {
  const { error } = SlugName.safeParse(value);
  if (error !== undefined) throw badField("name", `expected 1 to 255 letters, digits, dots, underscores and hyphens`);
  if (value === reservedName) throw badField("name", `must not be ${reservedName}, which is the address of another operation`);
  return value;
}

export function createExtensions(parts: { readonly database: Database; readonly blobs: Blobs }): Extensions {
  const { blobs } = parts;
  const { query } = parts.database;

  async function existing(projectId: string, idOrName: string): Promise<ExtensionRow> {
    const rows = isStorable(idOrName)
      ? await query
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

  async function store(stream: Readable): Promise<StoredBlob> {
    try {
      return await blobs.put(stream, { maxBytes: maxArchiveBytes, check: checkExtensionArchive });
    } catch (error) {
      if (!(error instanceof BlobTooLarge)) throw error;
      throw new ServiceError(
        413,
        "payload_too_large",
        `body.file: an extension's archive may have ${String(maxArchiveBytes / 2 ** 20)} MiB. Leave away what the extension does not need.`,
        { cause: error },
      );
    }
  }

  async function archiveOf(row: ExtensionRow): Promise<NonNullable<Awaited<ReturnType<Blobs["get"]>>>> {
    const found = await blobs.get(row.blob);
    if (found === undefined) throw new ServiceError(500, "internal_error", `The archive of extension ${row.id} is not ${blobs.place}`);
    return found;
  }

  /** The parts in any order. */
  async function take(incoming: AsyncIterable<MultipartPart>): Promise<{ name: string | undefined; blob: StoredBlob }> {
    let name: string | undefined;
    let blob: StoredBlob | undefined;
    try {
      for await (const part of incoming) {
        if (part.name === "name") {
          if (part.kind === "file") throw badField("name", "must be a text field: send the part without a filename");
          if (name !== undefined) throw badField("name", "is there twice");
          name = checkName(part.value);
        } else if (part.name === "file") {
          if (part.kind === "field") throw badField("file", "must be a file: send the part with a filename");
          if (blob !== undefined) throw badField("file", "is there twice");
          blob = await store(part.stream);
        } else throw badField(part.name, "unknown part; known are file and name");
      }
      if (blob === undefined) throw badField("file", "required (expected a ZIP archive)");
    } catch (error) {
      if (blob !== undefined) await blobs.delete(blob.name);
      throw error;
    }
    return { name, blob };
  }

  return {
    async upload(projectId, incoming) {
      const { name, blob } = await take(incoming);
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
        await query.insertInto("extensions").values(row).execute();
      } catch (error) {
        // A connection that broke may have stored the row: then the archive is kept, and swept if no row names it.
        if (outageOf(error) === undefined) await blobs.delete(blob.name);
        if (name === undefined || !isUniqueViolation(error)) throw error;
        throw new ServiceError(
          409,
          "name_taken",
          `An extension named ${name} exists in this project already. Choose another name, or delete that extension first.`,
        );
      }
      return toExtension(row);
    },

    async list(projectId, { query: part, name, limit, offset }) {
      if (!isStorable(part) || !isStorable(name)) return emptyPage();
      let rows = query.selectFrom("extensions").select(columns).where("project_id", "=", projectId);
      if (part !== undefined) rows = rows.where((where) => where.or([containsFolded("name_folded", part), where("id", "=", part)]));
      if (name !== undefined) rows = rows.where("name_folded", "=", folded(name));
      const found = await newestFirst(rows, { limit, offset }).execute();
      return toPage(found, { limit, offset }, toExtension);
    },

    get: async (projectId, idOrName) => toExtension(await existing(projectId, idOrName)),

    async download(projectId, idOrName) {
      const row = await existing(projectId, idOrName);
      return { ...(await archiveOf(row)), fileName: `${row.name ?? row.id}.zip` };
    },

    async choose(projectId, wanted) {
      const ids = new Set<string>();
      for (const { id, name } of wanted) ids.add((await existing(projectId, id ?? name ?? "")).id);
      return [...ids];
    },

    async open(projectId, id) {
      const row = await existing(projectId, id);
      const { stream } = await archiveOf(row);
      await query.updateTable("extensions").set({ last_used_at: new Date().toISOString() }).where("id", "=", row.id).execute();
      return { name: row.name ?? row.id, stream };
    },

    async delete(projectId, idOrName) {
      const { id, blob } = await existing(projectId, idOrName);
      const { numDeletedRows } = await query.deleteFrom("extensions").where("id", "=", id).executeTakeFirst();
      if (numDeletedRows === 0n) throw notFound(idOrName);
      // It is deleted for everybody; what is left of it is swept.
      await blobs.delete(blob).catch(() => undefined);
    },

    sweep: () =>
      sweepBlobs(blobs, async (names) => {
        const rows = await query.selectFrom("extensions").select("blob").where("blob", "in", names).execute();
        return new Set(rows.map(({ blob }) => blob));
      }),
  };
}
