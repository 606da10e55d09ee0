import type { SubmitLogin } from "@shoal/schemas";
import { Api, type Connection, Refused } from "./api.ts";
import { destinationOf } from "./destination.ts";
import { required } from "./element.ts";
import { Follower } from "./follower.ts";
import { questionView } from "./question.ts";
import { Stage } from "./stage.ts";
import { texts } from "./texts.ts";
import { endView, externalView, failure, nameOf, workingView } from "./views.ts";

const [, base = "", connectionId = ""] = /^(.*)\/auth\/sign-in\/([^/]+)\/?$/.exec(location.pathname) ?? [];
const query = new URLSearchParams(location.search);
const destinations = { success: destinationOf(query.get("success_url")), error: destinationOf(query.get("error_url")) };
const storageKey = `shoal sign-in ${connectionId}`;
const stage = new Stage();
const cancel = required("cancel");

/** For a reload. Storage may be blocked in a frame. */
function keptToken(): string | undefined {
  try {
    return sessionStorage.getItem(storageKey) ?? undefined;
  } catch {
    return undefined;
  }
}

function keepToken(token: string | undefined): void {
  try {
    if (token === undefined) sessionStorage.removeItem(storageKey);
    else sessionStorage.setItem(storageKey, token);
  } catch {
    // The page works until it is reloaded.
  }
}

/** Removes the code from the address bar, the history and later referrers. */
function takeCode(): string | undefined {
  const code = query.get("code") ?? undefined;
  if (code === undefined) return undefined;
  const kept = new URLSearchParams(query);
  kept.delete("code");
  history.replaceState(null, "", location.pathname + (kept.size === 0 ? "" : `?${kept.toString()}`));
  return code;
}

async function enter(api: Api, hasToken: boolean): Promise<void> {
  const code = takeCode();
  if (code === undefined) {
    if (!hasToken) throw new Refused(404, "");
    return;
  }
  try {
    keepToken(await api.exchange(code));
  } catch (error) {
    // The person went back to the link of the sign-in that is open in this tab.
    if (!hasToken || !(error instanceof Refused)) throw error;
  }
}

function refuse(status: number, reason?: string): void {
  const { broken, expired, invalid, over, used } = texts.ends;
  const gone = reason === "used" ? used : reason === "expired" ? expired : over;
  const end = status === 404 ? invalid : status === 410 ? gone : status === 401 ? over : broken;
  const code = status === 404 ? "invalid_link" : status === 410 ? "link_expired" : "session_expired";
  cancel.hidden = true;
  stage.notes();
  stage.show(`refused ${String(status)} ${String(reason)}`, () =>
    failure(end, destinations, { code, message: end.title }),
  );
}

class SignIn {
  readonly #api: Api;
  readonly #follower: Follower;
  /** The answer on its way: the question behind it must not be shown again. */
  #answered: string | undefined;

  constructor(api: Api) {
    this.#api = api;
    this.#follower = new Follower(api, {
      changed: (connection) => {
        stage.offline(false);
        this.#show(connection);
      },
      offline() {
        stage.offline(true);
      },
      expired() {
        keepToken(undefined);
        refuse(401);
      },
    });
    cancel.onclick = () => {
      void this.#act(() => api.cancel());
    };
  }

  start(): void {
    this.#follower.start();
  }

  #show(connection: Connection): void {
    const { domain, flow_status: status, flow_step: step, interaction_id: question, profile_name } = connection;
    stage.name(domain, profile_name);
    const isOver = status !== "IN_PROGRESS";
    cancel.hidden = isOver;
    stage.notes(...(isOver ? [] : notesOf(connection)));
    if (isOver) {
      this.#follower.stop();
      stage.show(`end ${String(status)}`, () => endView(connection, destinations));
    } else if (question !== undefined && question === this.#answered) {
      stage.show("working SUBMITTING", () => workingView({ ...connection, flow_step: "SUBMITTING" }));
    } else if (step === "AWAITING_INPUT") {
      stage.show(`question ${question ?? ""}`, () => questionView(connection, this.#submit));
    } else if (step === "AWAITING_EXTERNAL_ACTION") {
      const hasView = connection.live_view_url == null ? "" : " with view";
      stage.show(`external ${question ?? ""}${hasView}`, () => externalView(connection, this.#submit));
    } else stage.show(`working ${String(step)}`, () => workingView(connection));
  }

  readonly #submit = (answer: SubmitLogin): void => {
    this.#answered = answer.interaction_id;
    void this.#act(() => this.#api.submit(answer));
  };

  async #act(action: () => Promise<void>): Promise<void> {
    let problem = "";
    try {
      await action();
    } catch (error) {
      problem = error instanceof Refused && error.message !== "" ? error.message : texts.offline;
      // The question is open again.
      this.#answered = undefined;
      stage.forget();
    }
    await this.#follower.look();
    stage.problem(problem);
  }
}

function notesOf({ record_session }: Connection): string[] {
  const isRefused = (["success_url", "error_url"] as const).some(
    (name) => query.has(name) && destinationOf(query.get(name)) === undefined,
  );
  return [
    ...(record_session ? [texts.recorded] : []),
    ...(destinations.success === undefined ? [] : [texts.destination(nameOf(destinations.success))]),
    ...(isRefused ? [texts.badDestination] : []),
  ];
}

async function start(): Promise<void> {
  const token = keptToken();
  const api = new Api(base, connectionId, token);
  try {
    await enter(api, token !== undefined);
    new SignIn(api).start();
  } catch (error) {
    if (error instanceof Refused) refuse(error.status, error.reason);
    else refuse(0);
  }
}

void start();
