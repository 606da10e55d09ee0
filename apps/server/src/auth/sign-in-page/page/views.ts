import type { Connection } from "./api.ts";
import { addressOf, type Destination } from "./destination.ts";
import { element, siteWords, withName } from "./element.ts";
import { choiceLists, type Submit, type View } from "./question.ts";
import { texts } from "./texts.ts";

export interface Destinations {
  readonly success: Destination | undefined;
  readonly error: Destination | undefined;
}

export function nameOf({ kind, name }: Destination): string {
  return kind === "app" ? texts.app(name) : name;
}

export function workingView({ domain, flow_step: step }: Connection): View {
  const text = step === "SUBMITTING" ? texts.checking : texts.working;
  return { title: text(domain), content: [spinner(), element("p", { class: "reason" }, texts.stillWorking)] };
}

function spinner(): HTMLElement {
  return element("div", { class: "spinner", "aria-hidden": "true" });
}

/** What a person does elsewhere: on a phone, or in the browser of the login. */
export function externalView(connection: Connection, submit: Submit): View {
  const { domain, external_action_message: message, live_view_url: view } = connection;
  const words = message ?? "";
  return {
    title: texts.external.title,
    content: [
      // In front of a captcha, the words are those of the service.
      words === "" || view != null
        ? element("p", {}, texts.external.captcha)
        : element("p", { class: "said" }, ...withName(texts.siteSays, domain), " ", siteWords(words)),
      element("p", { class: "waiting" }, spinner(), texts.external.waiting),
      ...(view == null ? [] : liveView(domain, view)),
      ...choiceLists({ ...connection, fields: [] }, submit),
    ],
    isWide: view != null,
  };
}

function liveView(site: string, address: string): HTMLElement[] {
  return [
    element("iframe", {
      class: "live-view",
      src: address,
      title: texts.external.view(site),
      referrerpolicy: "no-referrer",
      allow: "clipboard-read; clipboard-write",
    }),
    element(
      "p",
      {},
      element("a", { href: address, target: "_blank", rel: "noopener noreferrer" }, texts.external.separate),
    ),
  ];
}

export function endView(connection: Connection, destinations: Destinations): View {
  const { domain, error_code: code, error_message: message, profile_name, website_error: words } = connection;
  switch (connection.flow_status) {
    case "SUCCESS":
      return {
        title: texts.ends.success.title,
        content: [
          element("p", {}, ...withName(texts.ends.success.text, domain)),
          ...leaving(destinations.success, texts.leave, { profile_name, domain }),
        ],
      };
    case "CANCELED":
      return failure(texts.ends.canceled, destinations, { code: "canceled", message: texts.ends.canceled.title });
    case "EXPIRED":
      return failure(texts.ends.expired, destinations, { code: "expired", message: texts.ends.expired.title });
    default: {
      const known = texts.errors[code ?? ""] ?? texts.errors.flow_failed ?? "";
      const view = failure(texts.ends.failed, destinations, { code: code ?? "flow_failed", message: message ?? known });
      return {
        ...view,
        content: [
          element("p", { class: "problem" }, known),
          ...(words == null || words === ""
            ? []
            : [element("p", { class: "said" }, ...withName(texts.siteSays, domain), " ", siteWords(words))]),
          ...view.content,
        ],
      };
    }
  }
}

export function failure(
  { text, title }: { readonly title: string; readonly text: string },
  { error }: Pick<Destinations, "error">,
  facts: { readonly code: string; readonly message: string },
): View {
  return { title, content: [element("p", {}, text), ...leaving(error, texts.back, facts)] };
}

/** A link with the name of its target: the page never leaves unasked. */
function leaving(
  destination: Destination | undefined,
  text: (name: string) => string,
  facts: Readonly<Record<string, string>>,
): HTMLElement[] {
  if (destination === undefined) return [element("p", { class: "note" }, texts.close)];
  return [
    element(
      "a",
      { class: "main", href: addressOf(destination, facts), rel: "noreferrer" },
      ...withName(text, nameOf(destination)),
    ),
  ];
}
