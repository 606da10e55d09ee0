import type { BytesInput } from "@shoal/contract/endpoint";
import type { Schema } from "@shoal/schemas";
import type * as z from "zod/mini";
import { sourceOf, uploadOf, type Upload } from "./upload.ts";

interface Part {
  readonly name: string;
  readonly value: BytesInput;
  readonly isFile: boolean;
  /** Content type of a text part, if it is not plain text. */
  readonly contentType?: string;
}

/** Unwraps `optional`, `nullable`, `default` and `lazy`. */
function unwrapped(schema: z.core.$ZodType | undefined): z.core.$ZodTypes["_zod"]["def"] | undefined {
  if (schema === undefined) return undefined;
  // `$ZodTypes` is the union of all schema classes.
  const { def } = (schema as z.core.$ZodTypes)._zod;
  if (def.type === "lazy") return unwrapped(def.getter());
  if (def.type === "optional" || def.type === "nullable" || def.type === "default") return unwrapped(def.innerType);
  return def;
}

function isBytes(value: unknown): value is Exclude<BytesInput, string> {
  return (
    value instanceof Blob ||
    value instanceof ReadableStream ||
    value instanceof Uint8Array ||
    value instanceof ArrayBuffer
  );
}

function holdsFile(value: unknown): boolean {
  return isBytes(value) || (typeof value === "object" && value !== null && Object.values(value).some(holdsFile));
}

function partsOf(schema: z.core.$ZodType | undefined, name: string, value: unknown): Part[] {
  if (value === undefined || value === null) return [];
  const def = unwrapped(schema);
  const isFile = def?.type === "file" || isBytes(value);
  if (isFile) return [{ name, value: value as BytesInput, isFile: true }];
  if (Array.isArray(value))
    return value.flatMap((item, index) =>
      partsOf(def?.type === "array" ? def.element : undefined, `${name}[${index}]`, item),
    );
  if (typeof value !== "object")
    return [{ name, value: typeof value === "string" ? value : JSON.stringify(value), isFile: false }];
  const shape = def?.type === "object" ? def.shape : undefined;
  const takesFile = shape !== undefined && Object.values(shape).some((field) => unwrapped(field)?.type === "file");
  // A map is flattened like an object that contains a file: `env_vars[KEY]`.
  if (name !== "" && !takesFile && def?.type !== "record" && !holdsFile(value))
    return [{ name, value: JSON.stringify(value), isFile: false, contentType: "application/json" }];
  return (
    Object.entries(value)
      .map(([key, item]) => partsOf(shape?.[key], name === "" ? key : `${name}[${key}]`, item))
      // Text first, so that the receiver knows the destination of a file before its first byte.
      .sort((a, b) => Number(a.some((part) => part.isFile)) - Number(b.some((part) => part.isFile)))
      .flat()
  );
}

/** As in the HTML standard, so that a name cannot end the quotes or the line. */
function escaped(name: string): string {
  return name
    .toWellFormed()
    .replaceAll("\n", "%0A")
    .replaceAll("\r", "%0D")
    .replaceAll('"', "%22")
    .replaceAll("\0", "%00");
}

function headOf(part: Part): string {
  const disposition = `content-disposition: form-data; name="${escaped(part.name)}"`;
  if (!part.isFile)
    return part.contentType === undefined ? disposition : `${disposition}\r\ncontent-type: ${part.contentType}`;
  const fileName = part.value instanceof File && part.value.name !== "" ? part.value.name : "unknown_file";
  const type =
    part.value instanceof Blob && /^[\x20-\x7e]+$/.test(part.value.type) ? part.value.type : "application/octet-stream";
  return `${disposition}; filename="${escaped(fileName)}"\r\ncontent-type: ${type}`;
}

/**
 * Names follow the wire: `files[0][dest_path]`, `files[0][file]`, `env_vars[KEY]`. Other objects without a file become
 * one JSON part.
 * @see {@link https://html.spec.whatwg.org/multipage/form-control-infrastructure.html#multipart-form-data | HTML,
 * multipart form data}
 */
export function multipartUpload(schema: Schema, body: unknown): Upload {
  const boundary = `shoal-${crypto.randomUUID()}`;
  const parts = partsOf(schema, "", body);
  const sources = parts.flatMap((part, index) => [
    sourceOf(`${index === 0 ? "" : "\r\n"}--${boundary}\r\n${headOf(part)}\r\n\r\n`),
    sourceOf(part.value),
  ]);
  return uploadOf(`multipart/form-data; boundary=${boundary}`, [
    ...sources,
    sourceOf(`${parts.length === 0 ? "" : "\r\n"}--${boundary}--\r\n`),
  ]);
}
