import type { RenderMore } from "@shoal/placement";
import { badInput, ServiceError } from "@shoal/router";
import type { RenderPage } from "@shoal/schemas";
import { givenIn, givenInList } from "./ignored.ts";

type LoadEvent = "load" | "domcontentloaded" | "networkidle0" | "networkidle2";

interface Tag {
  readonly path?: unknown;
  readonly url?: string | undefined;
  readonly content?: string | undefined;
  readonly id?: string | undefined;
  readonly type?: string | undefined;
}

/** The fields of pages that services with Puppeteer's names share. */
export interface PuppeteerPage {
  readonly url?: string | undefined;
  readonly html?: string | undefined;
  readonly gotoOptions?:
    | {
        readonly waitUntil?: LoadEvent | readonly LoadEvent[] | undefined;
        readonly timeout?: number | undefined;
        readonly referer?: string | undefined;
      }
    | undefined;
  readonly authenticate?: { readonly username: string; readonly password: string } | undefined;
  readonly cookies?:
    | readonly {
        readonly name: string;
        readonly value: string;
        readonly domain?: string | undefined;
        readonly path?: string | undefined;
        readonly url?: string | undefined;
        readonly secure?: boolean | undefined;
        readonly httpOnly?: boolean | undefined;
        readonly sameSite?: "Strict" | "Lax" | "None" | undefined;
      }[]
    | undefined;
  readonly viewport?:
    | {
        readonly width: number;
        readonly height: number;
        readonly deviceScaleFactor?: number | undefined;
        readonly isMobile?: boolean | undefined;
        readonly hasTouch?: boolean | undefined;
      }
    | undefined;
  readonly userAgent?: string | { readonly userAgent: string } | undefined;
  readonly setExtraHTTPHeaders?: Readonly<Record<string, string>> | undefined;
  readonly setJavaScriptEnabled?: boolean | undefined;
  readonly emulateMediaType?: "screen" | "print" | undefined;
  readonly rejectResourceTypes?: readonly string[] | undefined;
  readonly rejectRequestPattern?: readonly string[] | undefined;
  readonly addScriptTag?: readonly Tag[] | undefined;
  readonly addStyleTag?: readonly Tag[] | undefined;
  readonly waitForTimeout?: number | undefined;
  readonly waitForSelector?:
    | { readonly selector: string; readonly hidden?: boolean | undefined; readonly visible?: boolean | undefined }
    | undefined;
  readonly bestAttempt?: boolean | undefined;
}

const states = {
  domcontentloaded: "domcontentloaded",
  load: "load",
  networkidle2: "network_almost_idle",
  networkidle0: "network_idle",
} as const;
const order = ["domcontentloaded", "load", "networkidle2", "networkidle0"] as const;
/** Next steps where a page has no field for it. */
export const inSession = "Do it in a session: connect to the socket of this service.";
const blocks = ["image", "font", "stylesheet", "script", "media"] as const;

/** @throws {ServiceError} 501 with the next step. */
export function notSupported(field: string, hint: string): never {
  throw new ServiceError(501, "not_implemented", "this service does not have it", { field: `body.${field}`, hint });
}

/** @throws {ServiceError} 501 for the first given field of these. */
export function refuseFields(body: object, fields: Readonly<Record<string, string>>): void {
  for (const [field, hint] of Object.entries(fields))
    if (givenIn("body", body, [field]).length > 0) notSupported(field, hint);
}

/** A page in this service's words, and fields that have no effect. */
export interface TranslatedPage {
  readonly page: RenderPage;
  readonly more: RenderMore;
  readonly ignored: readonly string[];
}

/** Translates a page in Puppeteer's words. @throws {ServiceError} 400. */
export function toRenderPage(page: PuppeteerPage): TranslatedPage {
  const { cookies, gotoOptions = {}, rejectResourceTypes = [], userAgent, viewport, waitForSelector: element } = page;
  const wanted = [gotoOptions.waitUntil ?? []].flat();
  const strongest = order.findLast((event) => wanted.includes(event));
  const block = blocks.filter((name) => rejectResourceTypes.includes(name));
  const { referer } = gotoOptions;
  const headers = { ...page.setExtraHTTPHeaders, ...(referer !== undefined && { Referer: referer }) };
  const waitFor: NonNullable<RenderPage["wait_for"]> = {
    ...(element && {
      selector: element.selector,
      state: element.hidden === true ? "hidden" : element.visible === true ? "visible" : "attached",
    }),
    ...(page.waitForTimeout !== undefined && { time_ms: page.waitForTimeout }),
  };
  return {
    page: {
      ...(page.url !== undefined && { url: page.url }),
      ...(page.html !== undefined && { html: page.html }),
      ...(strongest && { wait_until: states[strongest] }),
      ...(Object.keys(waitFor).length > 0 && { wait_for: waitFor }),
      ...(page.authenticate && { http_auth: page.authenticate }),
      ...(cookies && { cookies: cookies.map(toCookie) }),
      ...(viewport && {
        viewport: {
          width: viewport.width,
          height: viewport.height,
          ...(viewport.deviceScaleFactor !== undefined && { scale: viewport.deviceScaleFactor }),
        },
      }),
      ...(userAgent !== undefined && { user_agent: typeof userAgent === "string" ? userAgent : userAgent.userAgent }),
      ...(Object.keys(headers).length > 0 && { headers }),
      ...(page.setJavaScriptEnabled === false && { javascript: false }),
      ...(page.emulateMediaType && { media: page.emulateMediaType }),
      ...(block.length > 0 && { block }),
      ...(page.bestAttempt === true && { best_attempt: true }),
    },
    more: {
      ...(viewport?.isMobile === true && { mobile: true }),
      ...(viewport?.hasTouch === true && { touch: true }),
      ...(page.addStyleTag && { styles: tagsIn(page.addStyleTag, "addStyleTag") }),
      ...(page.addScriptTag && { scripts: tagsIn(page.addScriptTag, "addScriptTag") }),
      ...(page.rejectRequestPattern && { blocked: patternsIn(page.rejectRequestPattern, "rejectRequestPattern") }),
    },
    ignored: [
      ...(block.length < rejectResourceTypes.length ? ["body.rejectResourceTypes"] : []),
      ...givenIn("body.viewport", viewport, ["isLandscape"]),
      ...givenIn("body.waitForSelector", element, ["timeout"]),
      ...givenInList("body.cookies", cookies, ["expires"]),
    ],
  };
}

/** @throws {ServiceError} 400 for an address that is not of the web. */
function tagsIn(tags: readonly Tag[], field: string): RenderMore["styles"] {
  return tags.map(({ content, id, path, type, url }, index) => {
    const place = `body.${field}[${String(index)}]`;
    if (path !== undefined) throw badInput(`${place}.path`, "files are not read", { hint: "Send their content." });
    if (url !== undefined && !/^(?:https?|data):/i.test(url))
      throw badInput(`${place}.url`, "must begin with https://, http:// or data:");
    if (url === undefined && content === undefined) throw badInput(place, "needs url or content");
    const named = { ...(id !== undefined && { id }), ...(type !== undefined && { type }) };
    return url === undefined ? { content, ...named } : { url, ...named };
  });
}

/** @throws {ServiceError} 400. */
export function patternsIn(patterns: readonly string[], field: string): string[] {
  return patterns.map((pattern, index) => {
    try {
      return new RegExp(pattern).source;
    } catch {
      throw badInput(`body.${field}[${String(index)}]`, "is not a regular expression");
    }
  });
}

type Cookie = NonNullable<PuppeteerPage["cookies"]>[number];

function toCookie({ domain, httpOnly, name, path, sameSite, secure, url, value }: Cookie) {
  const host = domain ?? URL.parse(url ?? "")?.hostname;
  return {
    name,
    value,
    ...(host !== undefined && { domain: host }),
    ...(path !== undefined && { path }),
    ...(secure !== undefined && { secure }),
    ...(httpOnly !== undefined && { http_only: httpOnly }),
    ...(sameSite && { same_site: sameSite }),
  };
}
