import {
  type BrowserTelemetry,
  type BrowserTelemetryRequest,
  type CdpCommandMethod,
  cdpCommandMethods,
  telemetryCategories,
} from "@shoal/schemas";
import type * as z from "zod/mini";
import { invalid, type Refusal } from "../refusals/refusal.ts";

type Selectable = keyof NonNullable<BrowserTelemetry["browser"]>;
/** `bodies` belongs to `network`, and `outlines` to `page`. `monitor` is not selectable; it follows the categories that watch the browser. */
type Captured = Selectable | "bodies" | "outlines";
/** Whether each category is captured. */
export interface CapturedCategories extends Readonly<Record<Captured, boolean>> {
  /** CDP commands without events, of the category `control`. */
  readonly excludedMethods: readonly CdpCommandMethod[];
}
/** The name of a category, or of a CDP command without events, with this mark before it. */
export type CapturedName = Captured | `-${CdpCommandMethod}`;
/** The telemetry fields of a request. */
export type TelemetryRequest = z.output<typeof BrowserTelemetryRequest> | null | undefined;

const selectable = telemetryCategories.filter((category): category is Selectable => category !== "monitor");
const capturable: readonly Captured[] = [...selectable, "bodies", "outlines"];
/** Categories without cost for the browser. */
const always: ReadonlySet<string> = new Set(["control", "connection", "system", "captcha"]);

function from(
  isOn: (category: Captured) => boolean,
  excludedMethods: readonly CdpCommandMethod[] = [],
): CapturedCategories | undefined {
  const flags = Object.fromEntries(capturable.map((category) => [category, isOn(category)]));
  // `capturable` has every category.
  return capturable.some(isOn) ? { ...(flags as Record<Captured, boolean>), excludedMethods } : undefined;
}

function givenIn(request: TelemetryRequest) {
  return Object.entries(request?.browser ?? {}).filter(([, choice]) => choice !== undefined);
}

type Outcome = { readonly captured: CapturedCategories | undefined } | { readonly refusal: Refusal };

/**
 * Applies an update to what a session captures.
 *
 * @param current - `undefined` = none.
 * @returns a refusal for `enabled: false` with categories or a destination, and for captured events without storage.
 */
export function changedCategories(request: TelemetryRequest, current: CapturedCategories | undefined): Outcome {
  const outcome = selectedCategories(request, current);
  const isRefused = request?.storage?.enabled === false && "captured" in outcome && outcome.captured !== undefined;
  return isRefused ? { refusal: alwaysStored } : outcome;
}

function selectedCategories(request: TelemetryRequest, current: CapturedCategories | undefined): Outcome {
  const given = givenIn(request);
  const isSent = request?.export?.otlp?.destination !== undefined;
  // A destination without categories captures the default categories.
  if (!request || (request.enabled === undefined && given.length === 0))
    return { captured: current ?? (isSent ? from((category) => always.has(category)) : undefined) };
  if (request.enabled === false) return isSent || given.length > 0 ? refused(isSent) : { captured: undefined };
  const start = request.enabled === true ? undefined : current;
  const choices = new Map<string, boolean>(given.map(([name, choice]) => [name, choice?.enabled !== false]));
  const { control, network, page } = request.browser ?? {};
  // A change of its commands does not switch it on.
  if (control?.cdp !== undefined && control.enabled === undefined) choices.set("control", start?.control ?? true);
  if (network !== undefined) choices.set("bodies", network.enabled !== false && network.bodies !== false);
  if (page?.enabled === false || page?.outlines !== undefined)
    choices.set("outlines", page.enabled !== false && page.outlines === true);
  const excluded: readonly string[] = control?.cdp?.excluded_methods ?? current?.excludedMethods ?? [];
  const unknown = excluded.find((method) => !isCommand(method));
  if (unknown !== undefined) return { refusal: unknownCommand(unknown) };
  const selected = from(
    (category) => choices.get(category) ?? start?.[category] ?? always.has(category),
    cdpCommandMethods.filter((method) => excluded.includes(method)),
  );
  // Only disabled categories were sent: do not add the default set.
  const asks = request.enabled === true || start !== undefined || [...choices.values()].some(Boolean);
  return { captured: asks ? selected : undefined };
}

/**
 * Decides what a new session captures. Named categories replace the default; a request that only switches categories
 * off removes them from the default.
 *
 * @param standard - the default; `undefined` = none.
 */
export function capturedAtStart(request: TelemetryRequest, standard: CapturedCategories | undefined): Outcome {
  const given = givenIn(request);
  const keepsDefault = request?.enabled === undefined && given.every(([, choice]) => choice?.enabled === false);
  return changedCategories(request, keepsDefault ? standard : undefined);
}

/**
 * Returns the categories of a default; `undefined` = none.
 *
 * @param parts - `default_telemetry` of a project or the service.
 * @param stealth - of the session: without the console, because pages can detect that it is captured.
 */
export function defaultCategories(parts: readonly string[], stealth = false): CapturedCategories | undefined {
  if (parts.length === 0 || parts.includes("off")) return undefined;
  const named = new Set(parts.includes("bodies") ? [...parts, "network"] : parts);
  if (stealth) named.delete("console");
  return from((category) => named.has(category) || always.has(category));
}

/** Returns the names of captured categories and of excluded commands. */
export function namesOf(categories: CapturedCategories | undefined): CapturedName[] {
  return categories === undefined
    ? []
    : [
        ...capturable.filter((category) => categories[category]),
        ...categories.excludedMethods.map((method) => `-${method}` as const),
      ];
}

/** Ignores unknown names. `undefined` = none. */
export function categoriesNamed(names: readonly string[]): CapturedCategories | undefined {
  return from(
    (category) => names.includes(category),
    cdpCommandMethods.filter((method) => names.includes(`-${method}`)),
  );
}

/** `undefined` shows every category as switched off. */
export function shownCategories(
  categories: CapturedCategories | undefined,
): Required<Pick<BrowserTelemetry, "browser">> {
  const browser: NonNullable<BrowserTelemetry["browser"]> = Object.fromEntries(
    selectable.map((category) => [category, { enabled: categories?.[category] === true }]),
  );
  if (categories !== undefined && categories.excludedMethods.length > 0)
    browser.control = { ...browser.control, cdp: { excluded_methods: [...categories.excludedMethods] } };
  if (categories?.network === true && !categories.bodies) browser.network = { enabled: true, bodies: false };
  if (categories?.outlines === true) browser.page = { enabled: true, outlines: true };
  return { browser };
}

const isCommand = (method: string): boolean => (cdpCommandMethods as readonly string[]).includes(method);

function unknownCommand(method: string): Refusal {
  return invalid(
    "body.telemetry.browser.control.cdp.excluded_methods",
    `${JSON.stringify(method.slice(0, 100))} is not a command that telemetry reports`,
    { hint: `The commands are ${cdpCommandMethods.join(", ")}.` },
  );
}

const alwaysStored: Refusal = {
  status: 501,
  code: "not_implemented",
  problem: "captured events are always stored, because the export and repeated reads need them",
  field: "body.telemetry.storage.enabled",
  hint: "Omit storage, or capture nothing with enabled: false. telemetry_retention_days limits how long events are kept.",
};

function refused(isSent: boolean): { readonly refusal: Refusal } {
  return {
    refusal: isSent
      ? invalid("body.telemetry", "enabled: false cannot be combined with export.otlp.destination", {
          hint: "Without captured events, nothing is sent.",
        })
      : invalid("body.telemetry", "enabled: false cannot be combined with browser", {
          hint: "Disable single categories with their own enabled, or omit browser to stop all.",
        }),
  };
}
