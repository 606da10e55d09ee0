import type { Protocol } from "devtools-protocol/types/protocol.d.ts";
import type { PageTool } from "@shoal/schemas";
import type { FrameTarget } from "../follow/followed-page.ts";
import { isShallow } from "./bounded-json.ts";
import type { ToolWatch } from "./tool-watch.ts";

export interface ListedTool {
  readonly target: FrameTarget;
  readonly frame: Protocol.Page.Frame;
  readonly shown: PageTool;
  readonly title: string | undefined;
  /** Of a form: whether the tool submits it. */
  readonly autosubmit: boolean | undefined;
}

export interface ToolList {
  readonly tools: readonly ListedTool[];
  readonly leftOut: number;
}

type ToolTexts = Omit<PageTool, "origin" | "main_frame"> & {
  readonly title?: string;
  readonly autosubmit?: boolean;
};

const maxTools = 200;
const maxFrames = 60;
/** Of all tools of an answer, in characters. */
const maxListCharacters = 500_000;

/**
 * Runs in an isolated world of a frame, where the page cannot change `JSON`. Enabling the protocol's domain would report
 * tools of the topmost frame only.
 */
const readTools = `(async () => {
  const own = ((await document.modelContext?.getTools()) ?? []).filter((tool) => tool.window === window);
  const tools = [];
  let characters = 0;
  const form = (name) => [...document.forms].find((one) => one.getAttribute("toolname") === name);
  for (const { annotations, description, inputSchema, name, title } of own) {
    if (tools.length >= ${String(maxTools)} || name.length > 256) continue;
    const schema = typeof inputSchema === "string" ? inputSchema : JSON.stringify(inputSchema);
    const tool = {
      name,
      description: String(description ?? "").slice(0, 4000),
      ...(schema !== undefined && schema.length <= 32000 && { input_schema: schema }),
      read_only: annotations?.readOnlyHint === true,
      consequential: annotations?.consequentialHint === true,
      untrusted_content: annotations?.untrustedContentHint === true,
      ...(title && { title: String(title).slice(0, 500) }),
      autosubmit: form(name)?.hasAttribute("toolautosubmit"),
    };
    characters += JSON.stringify(tool).length;
    if (characters > ${String(maxListCharacters)}) break;
    tools.push(tool);
  }
  return JSON.stringify({ tools, left_out: own.length - tools.length });
})()`;

/** Reads the tools of the page's present documents, those of the page itself first. */
export async function listTools(watch: ToolWatch): Promise<ToolList> {
  const tools: ListedTool[] = [];
  let leftOut = 0;
  let characters = 0;
  for (const { frame, target } of await framesOf(watch)) {
    const read = await readFrame(watch, frame.id, target);
    leftOut += read.left_out;
    for (const { autosubmit, title, ...texts } of read.tools) {
      const mainFrame = watch.isMainFrame(target, frame.id);
      const shown: PageTool = { ...texts, origin: frame.securityOrigin, main_frame: mainFrame };
      characters += JSON.stringify(shown).length;
      if (tools.length < maxTools && characters <= maxListCharacters)
        tools.push({ target, frame, shown, title, autosubmit });
      else leftOut++;
    }
  }
  return { tools, leftOut };
}

interface ReadFrame {
  readonly tools: readonly ToolTexts[];
  readonly left_out: number;
}

/** A frame that has gone or does not answer has no tools. */
async function readFrame(watch: ToolWatch, frameId: string, target: FrameTarget): Promise<ReadFrame> {
  const none: ReadFrame = { tools: [], left_out: 0 };
  const contextId = await watch.worldOf(frameId, target).catch(() => undefined);
  if (contextId === undefined) return none;
  const params = { expression: readTools, contextId, awaitPromise: true, returnByValue: true };
  const asked = watch.cdp.send("Runtime.evaluate", params, target.sessionId).catch(() => undefined);
  const text: unknown = (await watch.send(asked))?.result.value;
  if (typeof text !== "string") return none;
  // The expression made it.
  const read = JSON.parse(text) as { tools: (ToolTexts & { input_schema?: unknown })[]; left_out: number };
  return { left_out: read.left_out, tools: read.tools.map(withSchema) };
}

/** The page wrote the schema: it may be any text. */
function withSchema({ input_schema: text, ...texts }: ToolTexts & { input_schema?: unknown }): ToolTexts {
  try {
    const schema: unknown = typeof text === "string" ? JSON.parse(text) : undefined;
    return isObject(schema) && isShallow(schema) ? { ...texts, input_schema: schema } : texts;
  } catch {
    return texts;
  }
}

export interface ShownFrame {
  readonly frame: Protocol.Page.Frame;
  readonly target: FrameTarget;
}

export async function framesOf(watch: ToolWatch): Promise<readonly ShownFrame[]> {
  const frames = new Map<string, ShownFrame>();
  for (const target of watch.targets) {
    const asked = watch.cdp.send("Page.getFrameTree", undefined, target.sessionId);
    // A frame may have gone.
    const answer = await watch.send(target.parent === undefined ? asked : asked.catch(() => undefined));
    for (const frame of answer === undefined ? [] : framesBelow(answer.frameTree))
      frames.set(frame.id, { frame, target });
  }
  return [...frames.values()].slice(0, maxFrames);
}

function framesBelow({ childFrames = [], frame }: Protocol.Page.FrameTree): readonly Protocol.Page.Frame[] {
  return [frame, ...childFrames.flatMap(framesBelow)];
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
