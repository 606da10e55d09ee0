import { renderPage } from "@shoal/contract";
import * as z from "zod/mini";
import { joined, ownField } from "../base/fields.ts";
import { defineTool, text, type Tool } from "../base/tool.ts";

export const renderTools: readonly Tool[] = [
  defineTool({
    name: "render",
    group: "sessions",
    title: "Render a page without a session",
    description: "Read a page as Markdown in one call, without opening it in the browser.",
    effect: "reads",
    calls: [renderPage],
    usesBrowser: false,
    fields: joined(
      ownField("url", z.string(), "Address"),
      ownField("wait_for", z.optional(z.string()), "CSS selector of an element to wait for"),
    ),
    async run({ url, wait_for: selector }, { options, transport }) {
      const page = await transport.call(
        renderPage,
        {
          body: {
            url,
            outputs: ["markdown"],
            markdown: { max_tokens: 10_000 },
            best_attempt: true,
            ...(selector !== undefined && { wait_for: { selector } }),
          },
        },
        options,
      );
      const { cut, markdown = "", status, timed_out: timedOut, title } = page;
      const notes = [
        status !== undefined && status >= 400 ? `(HTTP status ${String(status)})` : "",
        timedOut ? "(Loading took too long: read as it was.)" : "",
        cut.length > 0 ? "(Cut: open the page to read the rest.)" : "",
      ];
      const lines = [`${page.url} ${JSON.stringify(title)}`, markdown, ...notes].filter((line) => line !== "");
      return { content: [text(lines.join("\n"))] };
    },
  }),
];
