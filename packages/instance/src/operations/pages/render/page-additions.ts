import { invalid } from "@shoal/contract/refusals";
import { ServiceError } from "@shoal/router";
import type { RenderMore } from "../../../protocol/render-frame.ts";
import type { OpenTab } from "../tabs/session-pages.ts";
import { callInPage } from "./render-world.ts";
import type { RenderClock } from "./render-clock.ts";

interface Adding {
  readonly clock: RenderClock;
  readonly more: RenderMore;
  readonly tab: OpenTab;
}

const lookMs = 50;

/** Resolves with an error text if the address does not load. */
const addFunction = `(kind, { content, id, type, url }) => new Promise((done) => {
  const isScript = kind === "script";
  const element = document.createElement(isScript ? "script" : url === undefined ? "style" : "link");
  if (id !== undefined) element.id = id;
  if (type !== undefined) element.type = type;
  if (url !== undefined) {
    element.addEventListener("load", () => done(""), { once: true });
    element.addEventListener("error", () => done("could not be loaded"), { once: true });
    if (isScript) element.src = url;
    else Object.assign(element, { rel: "stylesheet", href: url });
  } else element.textContent = content ?? "";
  (document.head ?? document.documentElement).append(element);
  if (url === undefined) done("");
})`;

const eventFunction = `(name) => new Promise((done) => {
  addEventListener(name, () => done(true), { once: true, capture: true });
})`;

/** Adds styles and scripts of the request, then waits for its conditions. @throws {ServiceError} 400. */
export async function addAndWait({ clock, more, tab }: Adding): Promise<void> {
  for (const [kind, field, tags = []] of [
    ["style", "addStyleTag", more.styles],
    ["script", "addScriptTag", more.scripts],
  ] as const)
    for (const [index, tag] of tags.entries()) {
      const place = `body.${field}[${String(index)}]`;
      const problem = await clock.load(callInPage<string>(tab, addFunction, kind, tag), `${place} was not loaded`);
      if (problem !== undefined && problem !== "") throw ServiceError.of(invalid(place, problem));
    }
  const { wait_event: event, wait_function: source } = more;
  if (source !== undefined) await waitForFunction({ clock, tab }, source);
  if (event !== undefined)
    await clock.load(callInPage<boolean>(tab, eventFunction, event), `The page had no event ${JSON.stringify(event)}`);
}

async function waitForFunction({ clock, tab: { page } }: Pick<Adding, "clock" | "tab">, source: string): Promise<void> {
  const { cdp, session } = page;
  const expression = `(async () => { const found = (${source}\n); return Boolean(await (typeof found === "function" ? found() : found)); })()`;
  const condition = "waitForFunction did not become true";
  const look = async (): Promise<boolean> => {
    const answer = await cdp
      .send("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true }, session.sessionId)
      // The document is being replaced.
      .catch(() => undefined);
    if (answer?.exceptionDetails?.exception?.className === "SyntaxError")
      throw ServiceError.of(invalid("body.waitForFunction.fn", "is not a JavaScript function or expression"));
    return answer?.exceptionDetails === undefined && answer?.result.value === true;
  };
  while (!(await clock.load(look(), condition))) await clock.load(clock.pause(lookMs), condition);
}
