import { invalid } from "@shoal/contract/refusals";
import { type BytesReply, ServiceError } from "@shoal/router";
import type { EgressFailures } from "../../../egress/failures.ts";
import { maxRenderBytes, type RenderPart, renderParts } from "../../../protocol/render-frame.ts";
import { observe } from "../outline/observe.ts";
import type { RenderMore } from "../../../protocol/render-frame.ts";
import type { PageCamera } from "../pictures/page-camera.ts";
import { printPage } from "../pictures/print-page.ts";
import type { PageReader } from "../read/page-reader.ts";
import type { OpenTab, SessionPages } from "../tabs/session-pages.ts";
import { elementsFunction, htmlFunction, linksFunction, textFunction } from "./page-scripts.ts";
import type { RenderClock } from "./render-clock.ts";
import { partsOf, type RenderRequest } from "./render-request.ts";
import { explainSelector, readFromPage } from "./render-world.ts";

export interface RenderedPart {
  readonly name: RenderPart;
  readonly type: string;
  readonly content: Buffer;
  readonly isCut: boolean;
}

export interface RenderTools {
  readonly pages: SessionPages;
  readonly camera: Pick<PageCamera, "take">;
  readonly reader: Pick<PageReader, "describePdf" | "read">;
  readonly failures: EgressFailures | undefined;
}

interface Reading {
  readonly tools: RenderTools;
  readonly request: RenderRequest;
  readonly more: RenderMore;
  readonly tab: OpenTab;
  readonly clock: RenderClock;
}

const usualPicture = { format: "png", full_page: false, quality: 80, omit_background: false } as const;

type Content = Omit<RenderedPart, "name">;

const maxCharacters = 5_000_000;
/** A page that opens dialogs in a row blocks some readings for a moment. */
const dialogAttempts = 5;

/** Reads the outputs of a request one after another: each takes memory. @throws {ServiceError} */
export async function readParts(reading: Reading): Promise<RenderedPart[]> {
  const wanted = partsOf(reading.request);
  const read: RenderedPart[] = [];
  let bytes = 0;
  for (const name of renderParts) {
    if (!wanted.has(name)) continue;
    const part = { name, ...(await reading.clock.read(readPatiently(reading, name), `The output ${name}`)) };
    bytes += part.content.length;
    if (bytes > maxRenderBytes)
      throw new ServiceError(
        409,
        "conflict",
        `The outputs of the page have more than ${String(maxRenderBytes)} bytes.`,
        {
          limit: maxRenderBytes,
          hint: "Request fewer outputs, or a smaller screenshot with max_width or selector.",
        },
      );
    read.push(part);
  }
  return read;
}

async function readPatiently(reading: Reading, name: RenderPart): Promise<Content> {
  for (let attempt = 1; ; attempt += 1)
    try {
      return await readers[name](reading);
    } catch (error) {
      const isDialog = ServiceError.isInstance(error) && error.code === "dialog_open";
      if (!isDialog || attempt === dialogAttempts) throw inOptionsOf(name, error);
      await reading.clock.pause(100);
    }
}

/** Other operations name their fields without the output. */
function inOptionsOf(name: RenderPart, error: unknown): unknown {
  if (!ServiceError.isInstance(error) || error.field === undefined) return error;
  if (error.field.startsWith(`body.${name}`)) return error;
  const { code, hint, limit, problem, status } = error;
  const field = error.field.replace(/^body\./, `body.${name}.`);
  return new ServiceError(status, code, problem, { field, limit, hint, cause: error });
}

const readers: Readonly<Record<RenderPart, (reading: Reading) => Promise<Content>>> = {
  html: ({ tab }) => script(tab, "text/html", htmlFunction),
  text: ({ tab }) => script(tab, "text/plain", textFunction),
  links: ({ tab }) => script(tab, "application/json", linksFunction),
  elements: ({ request, tab }) =>
    script(tab, "application/json", elementsFunction, request.elements ?? []).catch(explainSelector("body.elements")),
  async markdown({ request, tab, tools }) {
    const options = { content: "main", max_tokens: 100_000, links: true, ...request.markdown } as const;
    const { markdown, next_offset: next } = await tools.reader.read({ ...options, offset: 0, tab: tab.id });
    return textPart("text/markdown", markdown, next !== undefined);
  },
  async outline({ request, tab, tools }) {
    const options = { max_tokens: 4000, ...request.outline, diff: false, tab: tab.id };
    const found = await observe(tools.pages, options, tools.reader);
    return textPart("text/plain", found.outline, found.left_out > 0);
  },
  async screenshot({ more, request, tab, tools }) {
    const { omit_background: isClear, ...options } = request.screenshot ?? usualPicture;
    const { format } = options;
    if (isClear && format === "jpeg")
      throw ServiceError.of(invalid("body.screenshot.omit_background", "needs the format png or webp"));
    const { cdp, session } = tab.page;
    const background = (color?: { r: number; g: number; b: number; a: number }) =>
      cdp.send("Emulation.setDefaultBackgroundColorOverride", color === undefined ? {} : { color }, session.sessionId);
    if (isClear) await background({ r: 0, g: 0, b: 0, a: 0 });
    try {
      const type = `image/${format}`;
      if (more.clip !== undefined) return { type, content: await clipped(tab, options, more.clip), isCut: false };
      const picture = await tools.camera.take({ ...options, labels: false, tab: tab.id });
      return { type, content: await bytesOf(picture), isCut: false };
    } finally {
      if (isClear) await background().catch(() => undefined);
    }
  },
  async pdf({ more, request, tab }) {
    const usual = { format: "A4", landscape: false, print_background: true, scale: 1, margin_inches: 0.4 } as const;
    const printed = await printPage(tab, { ...usual, ...request.pdf }, more.pdf);
    return { type: "application/pdf", content: await bytesOf(printed), isCut: false };
  },
};

async function clipped(
  { page: { cdp, session } }: OpenTab,
  { format, quality }: Pick<NonNullable<RenderRequest["screenshot"]>, "format" | "quality">,
  clip: NonNullable<RenderMore["clip"]>,
): Promise<Buffer> {
  const { data } = await cdp.send(
    "Page.captureScreenshot",
    { format, ...(format !== "png" && { quality }), clip: { ...clip, scale: 1 }, captureBeyondViewport: true },
    session.sessionId,
  );
  return Buffer.from(data, "base64");
}

async function script(
  tab: OpenTab,
  type: string,
  declaration: string,
  ...values: readonly unknown[]
): Promise<Content> {
  const found = await readFromPage<{ readonly text: string; readonly isCut: boolean }>(
    tab,
    declaration,
    maxCharacters,
    ...values,
  );
  return textPart(type, found.text, found.isCut);
}

function textPart(type: string, text: string, isCut: boolean): Content {
  return { type, content: Buffer.from(text), isCut };
}

/** @throws {ServiceError} 409 for a file that is too large to be answered. */
async function bytesOf({ stream }: BytesReply): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    bytes += chunk.length;
    // The caller refuses it, with all other outputs.
    if (bytes > maxRenderBytes) break;
  }
  return Buffer.concat(chunks);
}
