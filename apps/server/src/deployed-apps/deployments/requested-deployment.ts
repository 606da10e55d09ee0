import {
  outsideSources,
  pathInSources,
  repositoryExpected,
  reservedVariables,
  unstorable,
  variableNameExpected,
} from "@shoal/contract/refusals";
import { messageOf } from "@shoal/primitives";
import { checkedBody, FormFields, type MultipartPart, ServiceError, type UnknownFields } from "@shoal/router";
import { CreateDeployment } from "@shoal/schemas";
import type { Readable } from "node:stream";
import type * as z from "zod/mini";
import { badField } from "../../http/bad-field.ts";
import { withZip } from "../../storage/archives/zip-entries.ts";
import { type Blobs, type HashedBlob, putHashed } from "../../storage/blobs/blobs.ts";
import { BlobTooLarge } from "../../storage/blobs/measured-content.ts";
import { isRef, isRepository, refExpected } from "./repository.ts";

export const maxArchiveBytes = 200 * 2 ** 20;

export interface RequestedDeployment extends Pick<z.output<typeof CreateDeployment>, "version" | "region" | "force"> {
  /** Relative, normalized, inside the sources. */
  readonly entrypoint: string;
  readonly env: Readonly<Record<string, string>>;
  readonly archive: HashedBlob | undefined;
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
  readonly #fields = new FormFields(CreateDeployment);
  #archive: HashedBlob | undefined;

  constructor(blobs: Blobs) {
    this.#blobs = blobs;
  }

  async take(part: MultipartPart): Promise<void> {
    if (part.kind === "field") {
      this.#fields.add(part);
      return;
    }
    if (part.name !== "file")
      throw badField(
        part.name.replaceAll(/\[([^[\]]*)\]/g, ".$1"),
        "must be a text field: send the part without a filename",
      );
    if (this.#archive !== undefined) throw badField("file", "is duplicated");
    this.#archive = await storeArchive(part.stream, this.#blobs);
  }

  result(unknownFields: UnknownFields): RequestedDeployment {
    const given = {
      ...this.#fields.values,
      ...(this.#archive !== undefined && { file: new File([], "archive.zip") }),
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

async function storeArchive(stream: Readable, blobs: Blobs): Promise<HashedBlob> {
  const check = (path: string) =>
    withZip(path, () => Promise.resolve()).catch((error: unknown) => {
      throw badField("file", messageOf(error), {
        cause: error,
        hint: "Send a ZIP archive of the folder of the app.",
      });
    });
  try {
    return await putHashed(blobs, stream, { maxBytes: maxArchiveBytes, check });
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
