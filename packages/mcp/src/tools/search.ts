import { createSearch } from "@shoal/contract";
import * as z from "zod/mini";
import { joined, ownField } from "../base/fields.ts";
import { defineTool, text, type Tool } from "../base/tool.ts";

const mostResults = 20;

export const searchTools: readonly Tool[] = [
  defineTool({
    name: "search",
    group: "sessions",
    title: "Search the web",
    description: "Search the web. Returns titles, addresses and snippets of foreign pages.",
    effect: "reads",
    calls: [createSearch],
    usesBrowser: false,
    fields: joined(
      ownField("query", z.string(), "Question"),
      ownField("max_results", z.optional(z.int()), "1 to 20, default 8"),
    ),
    async run({ max_results: most = 8, query }, { options, transport }) {
      const found = await transport.call(
        createSearch,
        { body: { query, max_results: Math.min(mostResults, Math.max(1, most)) } },
        options,
      );
      const lines = found.results.map(({ rank, snippet, title = "", url }) =>
        [`${String(rank)}. ${title}`, url, ...(snippet === undefined ? [] : [snippet])].join("\n"),
      );
      const warnings = found.warnings.map(({ message }) => `(${message})`);
      return { content: [text([...(lines.length === 0 ? ["No results."] : lines), ...warnings].join("\n\n"))] };
    },
  }),
];
