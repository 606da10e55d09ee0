import { projectKey, serviceUrl } from "./place.ts";

/** Sent with each request: the console stores the key at the sign-in (`console-session.ts`), and pages of other origins cannot read it. */
const consoleHeaders = () => ({ "x-shoal-console": localStorage.getItem("shoal-console-page-key") ?? "none" });

interface Session {
  readonly principal: { readonly name: string };
  readonly projects: readonly { readonly id: string; readonly name: string }[];
}

/** The person signed in to the console, or a typed key. Keys stay in memory. */
export interface Person {
  readonly area: HTMLElement;
  /** The headers of requests. */
  headers(): Readonly<Record<string, string>>;
}

/** @returns `undefined` for a signed-out person */
export async function readPerson(): Promise<Session | undefined> {
  const answer = await fetch(`${serviceUrl}/console/session`, {
    headers: { ...consoleHeaders(), accept: "application/json" },
  });
  return answer.ok ? ((await answer.json()) as Session) : undefined;
}

export function showPerson(session: Session | undefined): Person {
  const area = document.createElement("div");
  const label = document.createElement("label");
  area.append(label);
  if (session === undefined) {
    const key = Object.assign(document.createElement("input"), { type: "password", autocomplete: "off" });
    label.append("API key", key);
    const link = Object.assign(document.createElement("a"), { href: `${serviceUrl}/console/`, textContent: "Sign in" });
    const note = document.createElement("p");
    note.append(link, " to the console to send requests as yourself, or enter a key. The page forgets it.");
    area.prepend(note);
    return { area, headers: () => (key.value === "" ? {} : { authorization: `Bearer ${key.value.trim()}` }) };
  }
  const project = document.createElement("select");
  for (const { id, name } of session.projects) project.add(new Option(name, id));
  const wanted = sessionStorage.getItem(projectKey);
  const known = session.projects.find(({ id, name }) => id === wanted || name === wanted);
  if (known !== undefined) project.value = known.id;
  project.addEventListener("change", () => {
    sessionStorage.setItem(projectKey, project.value);
  });
  label.append(`Requests use your session: ${session.principal.name}. Project`, project);
  return {
    area,
    headers: () => ({ ...consoleHeaders(), ...(project.value !== "" && { "x-shoal-project": project.value }) }),
  };
}
