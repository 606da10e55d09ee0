import type { Refusal } from "@shoal/contract/refusals";
import { ServiceError } from "@shoal/router";
import { withoutCredentials } from "../tabs/shown-address.ts";
import { dialogOpen, pageNotResponding } from "../tabs/page-errors.ts";
import type { OpenTab } from "../tabs/session-pages.ts";
import { Interrupted } from "./act-run.ts";
import type { Obstacle } from "./element/examine.ts";

const obstacles: Readonly<Record<Exclude<Obstacle, "covered">, readonly [problem: string, hint: string]>> = {
  removed: ["was removed from the page again and again", "Observe the page again."],
  hidden: ["is not visible", "Make it visible first, or observe the page again."],
  moving: ["does not stop moving", "Wait until it stops, or send a larger `timeout_ms`."],
  disabled: ["is disabled", "Complete the fields or steps that enable it, then try again."],
  readonly: ["is read-only", "Observe the page again, and use another field."],
  inert: [
    "cannot have the focus: it is behind a dialog, or in a part of the page that is inert",
    "Observe the page, close the dialog or complete the step before it, then try again.",
  ],
  outside: ["cannot be scrolled into view", "Enlarge the viewport, or use another element."],
};

/** Says why the page of an action stopped answering; returns other errors unchanged while the page exists. */
export function explainInterruption(error: unknown, { id, page: { session } }: Pick<OpenTab, "id" | "page">): unknown {
  if (session.ended || (error instanceof Interrupted && error.kind === "gone")) return session.endError();
  if (!(error instanceof Interrupted)) return error;
  return ServiceError.of(
    error.kind === "dialog" && session.dialog !== undefined
      ? dialogOpen(id, session.dialog)
      : pageNotResponding(id, "does not answer: a script keeps it busy"),
  );
}

/** 409 for a text that the page did not take. */
export function textRefused(element: string): Refusal {
  return unfitElement(
    element,
    "did not take the text",
    "Observe the page; if it takes single keys only, click it and use `press`.",
  );
}

export const stillOpen = (id: string): Refusal => ({
  status: 409,
  code: "conflict",
  problem: `tab ${id} does not leave its file, and files are closed before a stored value is typed`,
  hint: "Close the tab, then fill again.",
});

/** For a request that did not pass the service, which alone knows the value. */
export const secretNotOffered: Refusal = {
  status: 403,
  code: "forbidden",
  field: "body.secret",
  problem: "only the service can type a stored value, for a call of browsers.act with an API key",
  hint: "Send the request to the service.",
};

/** 409 for a field that would keep a part of a stored value: the part is not recognized in texts. */
export function secretTooLong(element: string): Refusal {
  return unfitElement(
    element,
    "is shorter than the stored value",
    "Nothing was typed. Use the field of the form that takes the whole value.",
  );
}

/** 409 for a stored value whose element was checked before. */
export const secretForOtherElement: Refusal = {
  status: 409,
  code: "stale_reference",
  field: "body.selector",
  problem: "the selector no longer matches the checked element",
  hint: "Nothing was typed. Observe the page again.",
};

/** 409 for a stored value in an editor, for example of a comment that the site publishes. */
export function secretOutsideField(element: string): Refusal {
  return unfitElement(
    element,
    "is not an input field",
    "Nothing was typed. Stored values go to <input> elements only.",
  );
}

/** 403 for a stored value that the field's site must not get. */
export function secretOnOtherSite(
  origin: string,
  { credential, sites }: { readonly credential: string; readonly sites: readonly string[] },
): Refusal {
  const place = origin === "null" || origin === "" ? "a page without a site" : origin;
  const allowed = sites.slice(0, 20).join(", ");
  return {
    status: 403,
    code: "forbidden",
    field: "body.secret",
    problem: `the field is on ${place.slice(0, 300)}; values of the credential ${credential} are typed on ${allowed} only, over https`,
    limit: allowed,
    hint: "Nothing was typed. Open a page of one of these sites, or ask an administrator to add the site with credentials.update.",
  };
}

/** 409 for an element that is not ready at the end of the wait. */
export class NotActionable extends ServiceError {
  readonly obstacle: Obstacle;

  /** @param element - `e3 (button "Save")` */
  constructor(
    element: string,
    obstacle: Obstacle,
    { cover, timeoutMs }: { cover?: string | undefined; timeoutMs: number },
  ) {
    const [problem, hint] =
      obstacle === "covered"
        ? [`is covered by ${cover ?? "another element"}`, "Close or move the covering element, then try again."]
        : obstacles[obstacle];
    const waited = `(waited ${String(timeoutMs)} ms)`;
    super(409, "not_actionable", `${element} ${problem} ${waited}`, { limit: timeoutMs, hint });
    this.obstacle = obstacle;
  }
}

/** 409 for an element to which the action does not apply. */
export function unfitElement(element: string, problem: string, hint: string): Refusal {
  return { status: 409, code: "not_actionable", problem: `${element} ${problem}`, hint };
}

/** 409 for a click on a list, which would choose the item in the middle. @param item - `e4 (option "Iron")` */
export function choosesItem(element: string, item: string | undefined): Refusal {
  return unfitElement(
    element,
    `holds items to choose, and a click on its middle would choose ${item ?? "one of them"}`,
    "Nothing was clicked. Click the item that you want by its own reference, or use `select` for a <select>.",
  );
}

export function noDialog(tab: string): Refusal {
  return { status: 409, code: "conflict", problem: `No dialog is open in ${tab}`, hint: "Observe the page again." };
}

/** @param reason - `net::ERR_NAME_NOT_RESOLVED` @param explanation - sentences of the egress gateway */
export function withExplanation(reason: string, explanation: string | undefined): string {
  return explanation === undefined ? reason : `${reason}. ${explanation}`;
}

/** 409 for an address that the browser could not open. @param reason - `net::ERR_NAME_NOT_RESOLVED` */
export function navigationFailed(url: string, reason: string, explanation?: string): Refusal {
  return {
    status: 409,
    code: "navigation_failed",
    problem: `Cannot open ${withoutCredentials(url).slice(0, 500)}: ${withExplanation(reason, explanation)}`,
    hint: "Check the address and the network of the session.",
  };
}

export function noHistory(direction: "back" | "forward"): Refusal {
  return {
    status: 409,
    code: "navigation_failed",
    problem: `The tab has no page to go ${direction} to`,
    hint: "Use `navigate` with an address.",
  };
}

/** 409 at the end of `wait_for`. */
export function waitedInVain(condition: string, timeoutMs: number): Refusal {
  return {
    status: 409,
    code: "wait_timeout",
    problem: `${condition} within ${String(timeoutMs)} ms`,
    limit: timeoutMs,
    hint: "Observe the page, or send a larger `timeout_ms`.",
  };
}
