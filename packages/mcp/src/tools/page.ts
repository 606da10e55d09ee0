import { actOnPage, type Endpoint, observePage, readPage, screenshotPage } from "@shoal/contract";
import {
  actText,
  fittingWidth,
  jpegSize,
  markdownText,
  observationText,
  type PageTool,
  pageTools,
  scaledNote,
} from "@shoal/contract/agent";
import { type ActOnPage, ActResult, PageObservation, PageText } from "@shoal/schemas";
import { readBytes } from "../answers/bytes.ts";
import { defineTool, text, type Tool, type ToolAnswer, type ToolCall } from "../base/tool.ts";

/** Base64 adds a third; clients refuse much larger messages. */
const maxPictureBytes = 8 * 2 ** 20;

interface Operation {
  readonly call: Endpoint;
  readonly output?: typeof ActResult | typeof PageObservation | typeof PageText;
  readonly run: (input: object, type: string, call: ToolCall) => Promise<ToolAnswer>;
}

const operations: Readonly<Record<PageTool["group"], Operation>> = {
  observe: {
    call: observePage,
    output: PageObservation,
    async run(body, _type, { browser, options, transport }) {
      const page = await transport.call(observePage, { params: { id: await browser() }, body }, options);
      return { content: [text(observationText(page))], structured: page };
    },
  },
  act: {
    call: actOnPage,
    output: ActResult,
    async run(input, type, { browser, options, outlineTokens, transport }) {
      const body: ActOnPage = {
        ...input,
        type: type as ActOnPage["type"],
        ...(outlineTokens > 0 && { observe: { diff: true, max_tokens: outlineTokens } }),
      };
      const result = await transport.call(actOnPage, { params: { id: await browser() }, body }, options);
      return { content: [text(actText(result))], structured: result };
    },
  },
  read: {
    call: readPage,
    output: PageText,
    async run(body, _type, { browser, options, transport }) {
      const page = await transport.call(readPage, { params: { id: await browser() }, body }, options);
      return { content: [text(markdownText(page))], structured: page };
    },
  },
  screenshot: {
    call: screenshotPage,
    async run(body, _type, { browser, options, transport }) {
      const id = await browser();
      const take = async (width: number): Promise<Buffer> => {
        const picture = await transport.download(
          screenshotPage,
          { params: { id }, body: { format: "jpeg", ...body, max_width: width } },
          options,
        );
        return readBytes(picture, "The picture", {
          limitBytes: maxPictureBytes,
          hint: "Pass ref or a smaller max_width, or omit full_page.",
        });
      };
      const asked = "max_width" in body && typeof body.max_width === "number" ? body.max_width : undefined;
      const first = await take(asked ?? 1280);
      const whole = jpegSize(first);
      const width = whole && fittingWidth(whole, asked !== undefined);
      const bytes = width === undefined ? first : await take(width);
      const size = jpegSize(bytes);
      const image = { type: "image", data: bytes.toString("base64"), mimeType: "image/jpeg" } as const;
      const isScaled = width !== undefined && whole !== undefined && size !== undefined;
      return { content: isScaled ? [image, text(scaledNote(whole, size))] : [image] };
    },
  },
};

const toolOf = ({ action, description, effect, fields, group, name, title }: PageTool): Tool => {
  const { call: operation, output, run } = operations[group];
  return defineTool({
    name,
    // Only for connections that ask for it: a model that is misled cannot use stored values then.
    group: "secret" in fields.schemas ? "secrets" : group,
    title,
    description,
    effect,
    calls: [operation],
    fields,
    ...(output !== undefined && { output }),
    run: (input, call) => run(input, action ?? name, call),
  });
};

/** The tools of the contract that operate pages. */
export const pageOperations: readonly Tool[] = pageTools.map(toolOf);
