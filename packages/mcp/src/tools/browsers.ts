import { createBrowser, deleteBrowser, listBrowsers, listProfiles, saveBrowserProfile } from "@shoal/contract";
import type { Browser, CreateBrowser } from "@shoal/schemas";
import * as z from "zod/mini";
import type { OwnBrowser } from "../browser/own-browser.ts";
import { type BrowserInput, browserFields, profileFields, requestOf } from "../browser/browser-options.ts";
import { joined, noFields, ownField } from "../base/fields.ts";
import { defineTool, text, type Tool } from "../base/tool.ts";

const BrowserSummary = z.object({
  session: z.string(),
  name: z.optional(z.string()),
  created_at: z.string(),
  headless: z.boolean(),
  profile: z.optional(z.string()),
  timeout_seconds: z.int(),
});

/** Without its addresses, which contain tokens. */
export function summaryOf(browser: Browser): z.output<typeof BrowserSummary> {
  const { created_at, headless, name, profile, session_id, timeout_seconds } = browser;
  const profileName = profile?.name ?? profile?.id;
  return {
    session: session_id,
    ...(name !== undefined && { name }),
    created_at,
    headless,
    ...(profileName !== undefined && { profile: profileName }),
    timeout_seconds,
  };
}

function openedText({ session_id, timeout_seconds }: Browser): string {
  return `Opened browser ${session_id}. It ends after ${String(timeout_seconds)} s without use.`;
}

export interface LifecycleOptions {
  /** `undefined` for connections without state, whose tools take a `session`. */
  readonly own: OwnBrowser | undefined;
  readonly defaults: CreateBrowser;
  readonly withProfiles: boolean;
}

export function lifecycleTools({ defaults, own, withProfiles }: LifecycleOptions): readonly Tool[] {
  const open = defineTool<BrowserInput>({
    name: "open_browser",
    group: undefined,
    title: "Open a browser",
    description:
      own === undefined
        ? "Start a browser. Pass its session to the other tools, and end it with close_browser."
        : "Start a browser with options, in place of the current one. Other tools start one when necessary.",
    effect: "changes",
    calls: [createBrowser],
    usesBrowser: false,
    // A profile may be signed in, so that a misled model must not choose one.
    fields: withProfiles ? joined(browserFields, profileFields) : browserFields,
    output: BrowserSummary,
    async run(input, { options, transport }) {
      const body = { ...defaults, ...requestOf(input) };
      const browser =
        own === undefined ? await transport.call(createBrowser, { body }, options) : await own.replace(body, options);
      return { content: [text(openedText(browser))], structured: summaryOf(browser) };
    },
  });
  const close = defineTool({
    name: "close_browser",
    group: undefined,
    title: "End the browser",
    description: "End the browser with its tabs and files.",
    effect: "destroys",
    calls: [deleteBrowser],
    usesBrowser: own === undefined,
    fields: noFields,
    async run(_input, { browser, options, transport }) {
      if (own === undefined) await transport.call(deleteBrowser, { params: { id_or_name: await browser() } }, options);
      else if (!(await own.end())) return { content: [text("This connection has no own browser to end.")] };
      return { content: [text("The browser has ended.")] };
    },
  });
  return [open, close];
}

const Browsers = z.object({ browsers: z.array(BrowserSummary) });

export const sessionTools: readonly Tool[] = [
  defineTool({
    name: "list_browsers",
    group: "sessions",
    title: "List browsers",
    description: "List running browsers of the project.",
    effect: "reads",
    calls: [listBrowsers],
    usesBrowser: false,
    fields: noFields,
    output: Browsers,
    async run(_input, { options, transport }) {
      const { items } = await transport.call(listBrowsers, { query: { limit: 100 } }, options);
      const browsers = items.map(summaryOf);
      const rows = browsers.map(({ created_at, name, session }) => [session, name, created_at].join("  "));
      return {
        content: [text(rows.length === 0 ? "No browser is running." : rows.join("\n"))],
        structured: { browsers },
      };
    },
  }),
];

const Profiles = z.object({ profiles: z.array(z.object({ id: z.string(), name: z.optional(z.string()) })) });

export const profileTools: readonly Tool[] = [
  defineTool({
    name: "list_profiles",
    group: "profiles",
    title: "List profiles",
    description: "List saved browser states that open_browser can start from.",
    effect: "reads",
    calls: [listProfiles],
    usesBrowser: false,
    fields: ownField("query", z.optional(z.string()), "Part of a name"),
    output: Profiles,
    async run(query, { options, transport }) {
      const { items } = await transport.call(listProfiles, { query: { limit: 100, ...query } }, options);
      const profiles = items.map(({ id, name }) => ({ id, ...(typeof name === "string" && { name }) }));
      const rows = profiles.map(({ id, name }) => name ?? id);
      return {
        content: [text(rows.length === 0 ? "The project has no profiles." : rows.join("\n"))],
        structured: { profiles },
      };
    },
  }),
  defineTool({
    name: "save_profile",
    group: "profiles",
    title: "Save the profile",
    description: "Save cookies and storage to the browser's profile. Needs open_browser with save_changes.",
    effect: "destroys",
    calls: [saveBrowserProfile],
    fields: noFields,
    async run(_input, { browser, options, transport }) {
      const profile = await transport.call(saveBrowserProfile, { params: { id_or_name: await browser() } }, options);
      return { content: [text(`Saved to profile ${profile.name ?? profile.id}.`)] };
    },
  }),
];
