import { printPage, readPage, screenshotPage, writeFile } from "@shoal/contract";
import { PageText, PrintPage, ReadPage, ScreenshotPage } from "@shoal/schemas";
import * as z from "zod/mini";
import { readBytes } from "../answers/bytes.ts";
import { fileUri } from "../base/uris.ts";
import { fieldsOf, joined, ownField } from "../base/fields.ts";
import { defineTool, text, type Tool } from "../base/tool.ts";

const maxPdfBytes = 64 * 2 ** 20;
/** Base64 adds a third; clients refuse much larger messages. */
const maxPictureBytes = 8 * 2 ** 20;

export const readTools: readonly Tool[] = [
  defineTool({
    name: "read",
    group: "read",
    title: "Read the page",
    description: "Read the page as Markdown.",
    effect: "reads",
    fields: fieldsOf(ReadPage, {
      content: "main text or all",
      max_tokens: "Limit of the text",
      offset: "next_offset of the previous part",
      links: "With addresses of links",
      ref: "Only this element",
      selector: "Only this CSS selector",
      tab: "Default the front tab",
    }),
    output: PageText,
    async run(body, { browser, options, transport }) {
      const page = await transport.call(readPage, { params: { id: await browser() }, body }, options);
      const rest = page.next_offset === undefined ? "" : `\n\nContinue with offset ${String(page.next_offset)}.`;
      return { content: [text(`${page.title} — ${page.url}\n\n${page.markdown}${rest}`)], structured: page };
    },
  }),
  defineTool({
    name: "pdf",
    group: "read",
    title: "Print the page",
    description: "Print the page as PDF into a file of the session.",
    effect: "changes",
    fields: joined(
      fieldsOf(PrintPage, { format: "Paper", landscape: "Turn the paper", page_ranges: "Pages: 1-3,5" }),
      ownField("path", z.optional(z.string()), "Absolute path; default /home/shoal/Downloads/page.pdf"),
    ),
    async run({ path = "/home/shoal/Downloads/page.pdf", ...body }, { browser, options, transport }) {
      const id = await browser();
      const pdf = await transport.download(printPage, { params: { id }, body }, options);
      const bytes = await readBytes(pdf, "The PDF", {
        limitBytes: maxPdfBytes,
        hint: "Print fewer pages with page_ranges.",
      });
      await transport.call(writeFile, { params: { id }, query: { path }, body: new Uint8Array(bytes) }, options);
      return {
        content: [
          text(`Wrote ${path} (${String(bytes.byteLength)} bytes).`),
          { type: "resource_link", uri: fileUri(id, path), name: path, mimeType: "application/pdf" },
        ],
      };
    },
  }),
];

export const screenshotTools: readonly Tool[] = [
  defineTool({
    name: "screenshot",
    group: "screenshot",
    title: "Take a picture",
    description: "Take a picture of the page. Prefer snapshot or read for text.",
    effect: "reads",
    fields: fieldsOf(ScreenshotPage, {
      full_page: "Also the hidden parts",
      ref: "Only this element",
      labels: "Draw refs on the picture",
      max_width: "Default 1280",
      tab: "Default the front tab",
    }),
    async run(body, { browser, options, transport }) {
      const picture = await transport.download(
        screenshotPage,
        { params: { id: await browser() }, body: { format: "jpeg", max_width: 1280, ...body } },
        options,
      );
      const bytes = await readBytes(picture, "The picture", {
        limitBytes: maxPictureBytes,
        hint: "Pass ref or a smaller max_width, or omit full_page.",
      });
      return { content: [{ type: "image", data: bytes.toString("base64"), mimeType: "image/jpeg" }] };
    },
  }),
];
