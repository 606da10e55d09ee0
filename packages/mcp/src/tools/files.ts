import { listFiles, readFile, writeFile } from "@shoal/contract";
import { FileInfo, FilePath, WriteFile } from "@shoal/schemas";
import * as z from "zod/mini";
import { readBytes, textIn } from "../answers/bytes.ts";
import { fileUri } from "../base/uris.ts";
import { fieldsOf, joined, ownField } from "../base/fields.ts";
import { defineTool, text, type Tool } from "../base/tool.ts";

const maxReadBytes = 4 * 2 ** 20;
const maxTextCharacters = 100_000;
const maxEntries = 500;

const Content = z.string().check(z.maxLength(2_000_000));
const Offset = z._default(z.int().check(z.minimum(0)), 0);
const Files = z.object({ files: z.array(FileInfo), left_out: z.int() });

export const fileTools: readonly Tool[] = [
  defineTool({
    name: "list_files",
    group: "files",
    title: "List a folder",
    description: "List a folder of the session. Downloads are in /home/shoal/Downloads.",
    effect: "reads",
    calls: [listFiles],
    fields: fieldsOf(FilePath, { path: "Absolute path" }),
    output: Files,
    async run(query, { browser, options, transport }) {
      const all = await transport.call(listFiles, { params: { id: await browser() }, query }, options);
      const files = all.slice(0, maxEntries);
      const leftOut = all.length - files.length;
      const rows = files.map(({ is_dir, name, size_bytes }) =>
        is_dir ? `${name}/` : `${name}  ${String(size_bytes)} bytes`,
      );
      if (leftOut > 0) rows.push(`${String(leftOut)} more`);
      return {
        content: [text(rows.length === 0 ? "The folder is empty." : rows.join("\n"))],
        structured: { files, left_out: leftOut },
      };
    },
  }),
  defineTool({
    name: "read_file",
    group: "files",
    title: "Read a file",
    description: "Read a file of the session: text, or a picture.",
    effect: "reads",
    calls: [readFile],
    fields: joined(fieldsOf(FilePath, { path: "Absolute path" }), ownField("offset", Offset, "First character")),
    async run({ offset = 0, path }, { browser, options, transport }) {
      const id = await browser();
      const download = await transport.download(readFile, { params: { id }, query: { path } }, options);
      const bytes = await readBytes(download, `The file ${path}`, {
        limitBytes: maxReadBytes,
        hint: `Read the resource ${fileUri(id, path)}, or a part of it with the tool run.`,
      });
      const picture = pictureType(bytes);
      if (picture !== undefined)
        return { content: [{ type: "image", data: bytes.toString("base64"), mimeType: picture }] };
      const content = textIn(bytes);
      if (content === undefined)
        return {
          content: [
            text(`${path} is not text (${String(bytes.byteLength)} bytes).`),
            { type: "resource_link", uri: fileUri(id, path), name: path },
          ],
        };
      const end = offset + maxTextCharacters;
      const rest = end < content.length ? `\n\nContinue with offset ${String(end)} of ${String(content.length)}.` : "";
      return { content: [text(`${content.slice(offset, end)}${rest}`)] };
    },
  }),
  defineTool({
    name: "write_file",
    group: "files",
    title: "Write a file",
    description: "Write a text file of the session. Replaces an existing one.",
    effect: "destroys",
    calls: [writeFile],
    fields: joined(fieldsOf(WriteFile, { path: "Absolute path" }), ownField("content", Content, "The whole text")),
    async run({ content, path }, { browser, options, transport }) {
      await transport.call(writeFile, { params: { id: await browser() }, query: { path }, body: content }, options);
      return { content: [text(`Wrote ${path} (${String(Buffer.byteLength(content))} bytes).`)] };
    },
  }),
];

function pictureType(bytes: Uint8Array): string | undefined {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, 12)).toString("latin1");
  if (head.startsWith("\x89PNG")) return "image/png";
  if (head.startsWith("\xff\xd8\xff")) return "image/jpeg";
  if (head.startsWith("GIF8")) return "image/gif";
  return head.startsWith("RIFF") && head.endsWith("WEBP") ? "image/webp" : undefined;
}
