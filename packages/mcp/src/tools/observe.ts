import { observePage } from "@shoal/contract";
import { ObservePage, PageObservation } from "@shoal/schemas";
import { observationText } from "../answers/page-text.ts";
import { fieldsOf } from "../base/fields.ts";
import { defineTool, text, type Tool } from "../base/tool.ts";

export const observeTools: readonly Tool[] = [
  defineTool({
    name: "snapshot",
    group: "observe",
    title: "Outline the page",
    description: "Outline the page: one line per element, with refs for other tools.",
    effect: "reads",
    fields: fieldsOf(ObservePage, {
      max_tokens: "Limit of the outline",
      diff: "Only changes since the last outline",
      ref: "Only this element",
      tab: "Default the front tab",
    }),
    output: PageObservation,
    async run(body, { browser, options, transport }) {
      const page = await transport.call(observePage, { params: { id: await browser() }, body }, options);
      return { content: [text(observationText(page))], structured: page };
    },
  }),
];
