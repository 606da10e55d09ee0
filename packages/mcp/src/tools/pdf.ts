import { printPage, writeFile } from "@shoal/contract";
import { PrintPage } from "@shoal/schemas";
import * as z from "zod/mini";
import { readBytes } from "../answers/bytes.ts";
import { fileUri } from "../base/uris.ts";
import { fieldsOf, joined, ownField } from "../base/fields.ts";
import { defineTool, text, type Tool } from "../base/tool.ts";

const maxPdfBytes = 64 * 2 ** 20;

export const pdfTools: readonly Tool[] = [
  defineTool({
    name: "pdf",
    group: "read",
    title: "Print the page",
    description: "Print the page as PDF into a file of the session.",
    effect: "changes",
    calls: [printPage, writeFile],
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
