import type { TelemetryEnvelope } from "@shoal/schemas";
import { durationText } from "../../../base/texts.ts";
import { firstErrorStatus } from "./requests.ts";

export interface ShownAction {
  readonly text: string;
  readonly note?: string;
  readonly isError?: boolean;
  readonly isNavigation?: boolean;
}

type Event = TelemetryEnvelope["event"];
type Data = Readonly<Record<string, unknown>>;

const textIn = (value: unknown): string => (typeof value === "string" ? value : "");
const named = (value: unknown): string => (textIn(value) === "" ? "" : ` (${textIn(value)})`);

const handoffs: Readonly<Record<string, string>> = {
  requested: "A person is asked to help",
  taken: "A person took control",
  released: "The person returned control",
  expired: "The handoff expired",
  canceled: "The handoff was canceled",
};

const operation = ({ duration_ms, operation_id, status }: Data): ShownAction => ({
  text: textIn(operation_id),
  note: typeof duration_ms === "number" ? durationText(duration_ms) : "",
  isError: typeof status === "number" && status >= firstErrorStatus,
});

const actions: Readonly<Record<string, (data: Data) => ShownAction | undefined>> = {
  page_navigation: ({ parent_frame_id, url }) =>
    parent_frame_id === undefined ? { text: `Opened ${textIn(url)}`, isNavigation: true } : undefined,
  page_tab_opened: ({ url }) => ({ text: `New tab ${textIn(url)}`.trim(), isNavigation: true }),
  page_crashed: ({ url }) => ({ text: `Page crashed ${textIn(url)}`.trim(), isError: true }),
  download_finished: ({ file_name, state }) => ({
    text: `Download ${textIn(file_name)}`.trim(),
    note: textIn(state),
    isError: state === "interrupted",
  }),
  interaction_click: ({ selector, tag, text }) => ({
    text: `Clicked ${textIn(text).trim() || textIn(selector) || textIn(tag).toLowerCase()}`,
  }),
  interaction_key: ({ key }) => ({ text: `Pressed ${key === " " ? "Space" : textIn(key)}` }),
  interaction_scroll_settled: ({ to_y }) => ({ text: `Scrolled to ${String(to_y)} px` }),
  api_call: operation,
  platform_api_call: operation,
  cdp_command: ({ method }) => ({ text: `CDP ${textIn(method)}` }),
  cdp_connect: () => ({ text: "A CDP client connected" }),
  cdp_disconnect: () => ({ text: "A CDP client disconnected" }),
  live_view_connect: ({ label }) => ({ text: `A viewer opened the live view${named(label)}` }),
  live_view_disconnect: () => ({ text: "A viewer closed the live view" }),
  handoff: ({ label, status }) => ({ text: `${handoffs[textIn(status)] ?? "Handoff"}${named(label)}` }),
  session_fork: () => ({ text: "Forked" }),
  session_sleep: () => ({ text: "Fell asleep" }),
  session_wake: ({ asleep_ms }) => ({
    text: typeof asleep_ms === "number" ? `Woke after ${durationText(asleep_ms)} of sleep` : "Woke",
  }),
  captcha_solve_result: ({ status }) => ({ text: "Captcha", note: textIn(status), isError: status === "failure" }),
  network_refused: ({ host, list }) => ({
    text: `Refused ${textIn(host)} by a network rule (${textIn(list)})`,
    isError: true,
  }),
  proxy_error: ({ code, url }) => ({
    text: `Proxy: ${textIn(code).replaceAll("_", " ")} ${textIn(url)}`,
    isError: true,
  }),
  system_oom_kill: ({ process_name }) => ({ text: `Out of memory: ${textIn(process_name)} was killed`, isError: true }),
  service_crashed: ({ service_name }) => ({ text: `${textIn(service_name)} crashed`, isError: true }),
};

/** An event as something that a program, a person or the page did; `undefined` for other events. */
export function actionOf({ data, type }: Event): ShownAction | undefined {
  return actions[type]?.({ ...data });
}
