import {
  outsideSources,
  pathInSources,
  repositoryExpected,
  reservedVariables,
  unstorable,
  variableNameExpected,
} from "@shoal/contract/refusals";
import { exceededJsonBound, type JsonBounds, messageOf } from "@shoal/primitives";
import { checkedBody, type MultipartPart, ServiceError, type UnknownFields } from "@shoal/router";
import { CreateDeployment } from "@shoal/schemas";
import type { Readable } from "node:stream";
import type * as z from "zod/mini";
import { badField } from "../../http/bad-field.ts";
import { withZip } from "../../storage/archives/zip-entries.ts";
import type { Blobs, StoredBlob } from "../../storage/blobs/blobs.ts";
import { BlobTooLarge } from "../../storage/blobs/measured-content.ts";
import { isRef, isRepository, refExpected } from "./repository.ts";

export const maxArchiveBytes = 200 * 2 ** 20;

export interface RequestedDeployment extends Pick<z.output<typeof CreateDeployment>, "version" | "region" | "force"> {
  /** Relative, normalized, inside the sources. */
  readonly entrypoint: string;
  readonly env: Readonly<Record<string, string>>;
  readonly archive: StoredBlob | undefined;
  readonly repository: z.output<typeof CreateDeployment>["source"];
}

/** Stores the archive in `blobs`. @throws {ServiceError} 400, 413; no archive stays. */
export async function takeRequest(
  parts: AsyncIterable<MultipartPart>,
  { blobs, unknownFields }: { readonly blobs: Blobs; readonly unknownFields: UnknownFields },
): Promise<RequestedDeployment> {
  const reader = new PartReader(blobs);
  try {
    for await (const part of parts) await reader.take(part);
    return reader.result(unknownFields);
  } catch (error) {
    await reader.discard();
    throw error;
  }
}

class PartReader {
  readonly #blobs: Blobs;
  readonly #fields = new Map<string, unknown>();
  readonly #env: Record<string, string> = {};
  #archive: StoredBlob | undefined;

  constructor(blobs: Blobs) {
    this.#blobs = blobs;
  }

  async take(part: MultipartPart): Promise<void> {
    if (part.name === "file") {
      if (part.kind === "field") throw badField("file", "must be a file: send the part with a filename");
      if (this.#archive !== undefined) throw badField("file", "is duplicated");
      this.#archive = await storeArchive(part.stream, this.#blobs);
      return;
    }
    const variable = /^env_vars\[(.*)\]$/s.exec(part.name)?.[1];
    if (part.kind === "file")
      throw badField(
        variable === undefined ? part.name : `env_vars.${variable}`,
        "must be a text field: send the part without a filename",
      );
    if (variable === undefined) this.#takeField(part.name, part.value);
    else {
      if (Object.hasOwn(this.#env, variable)) throw badField(`env_vars.${variable}`, "is duplicated");
      Object.defineProperty(this.#env, variable, { value: part.value, enumerable: true });
    }
  }

  #takeField(name: string, value: string): void {
    if (this.#fields.has(name)) throw badField(name, "is duplicated");
    switch (name) {
      case "version":
      case "region":
      case "entrypoint_rel_path":
        this.#fields.set(name, value);
        return;
      case "force":
        if (value !== "true" && value !== "false") throw badField(name, "expected true or false");
        this.#fields.set(name, value === "true");
        return;
      case "source":
        this.#fields.set(name, parseJson(name, value));
        return;
      default:
        throw badField(
          name,
          "unknown part; the parts are file, entrypoint_rel_path, source, version, region, force and env_vars[NAME]",
        );
    }
  }

  result(unknownFields: UnknownFields): RequestedDeployment {
    const given = {
      ...Object.fromEntries(this.#fields),
      ...(this.#archive !== undefined && { file: new File([], "archive.zip") }),
      ...(Object.keys(this.#env).length > 0 && { env_vars: this.#env }),
    };
    const body = checkedBody(CreateDeployment, given, unknownFields);
    const { entrypoint_rel_path, env_vars = {}, force, region, source, version } = body;
    if (source !== undefined) {
      if (!isRepository(source.url)) throw ServiceError.of(repositoryExpected());
      if (source.path !== undefined) insideSources("body.source.path", source.path);
    }
    refuseUnstorable("version", version);
    refuseUnstorable("entrypoint_rel_path", entrypoint_rel_path);
    for (const name of ["url", "ref", "path", "entrypoint"] as const)
      refuseUnstorable(`source.${name}`, source?.[name]);
    if (source !== undefined && !isRef(source.ref)) throw badField("source.ref", refExpected);
    return {
      version,
      force,
      region,
      entrypoint:
        source === undefined
          ? insideSources("body.entrypoint_rel_path", entrypoint_rel_path ?? "")
          : insideSources("body.source.entrypoint", source.entrypoint),
      env: checkedVariables(env_vars),
      archive: this.#archive,
      repository: source,
    };
  }

  async discard(): Promise<void> {
    if (this.#archive !== undefined) await this.#blobs.delete(this.#archive.name).catch(() => undefined);
  }
}

/** The fields of a source are few. */
const sourceBounds: JsonBounds = { values: 100, depth: 10 };

function parseJson(name: string, text: string): unknown {
  const exceeded = exceededJsonBound(Buffer.from(text), sourceBounds);
  if (exceeded !== undefined)
    throw badField(
      name,
      `has more than ${String(sourceBounds[exceeded])} ${exceeded === "values" ? "values" : "levels"}`,
    );
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw badField(name, "expected JSON", { cause: error });
  }
}

async function storeArchive(stream: Readable, blobs: Blobs): Promise<StoredBlob> {
  const check = (path: string) =>
    withZip(path, () => Promise.resolve()).catch((error: unknown) => {
      throw badField("file", messageOf(error), {
        cause: error,
        hint: "Send a ZIP archive of the folder of the app.",
      });
    });
  try {
    return await blobs.put(stream, { maxBytes: maxArchiveBytes, check });
  } catch (error) {
    if (!(error instanceof BlobTooLarge)) throw error;
    throw new ServiceError(
      413,
      "payload_too_large",
      `the limit for the archive of an app is ${String(maxArchiveBytes / 2 ** 20)} MiB`,
      {
        cause: error,
        field: "body.file",
        limit: maxArchiveBytes,
        hint: "Leave out node_modules and other files that the build creates.",
      },
    );
  }
}

/** Returns the normalized path. */
export function insideSources(field: string, path: string): string {
  const normal = pathInSources(path);
  if (normal === undefined) throw ServiceError.of(outsideSources(field, path));
  return normal;
}

function checkedVariables(variables: Readonly<Record<string, string>>): Record<string, string> {
  const entries = Object.entries(variables).filter(([name]) => !reservedVariables.has(name));
  for (const [name, value] of entries) {
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) throw ServiceError.of(variableNameExpected(name));
    refuseUnstorable(`env_vars.${name}`, value);
  }
  return Object.fromEntries(entries);
}

function refuseUnstorable(field: string, text: string | undefined): void {
  const refusal = unstorable(`body.${field}`, text);
  if (refusal !== undefined) throw ServiceError.of(refusal);
}
