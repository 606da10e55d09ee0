import type { ConsoleSession } from "../api/console-session.ts";

/** Shows the signed-in person with a choice of projects, or a link to sign in. */
export function showPerson(
  area: HTMLElement | null,
  session: ConsoleSession | null,
): { projectId(): string | undefined } {
  if (session === null) {
    const link = Object.assign(document.createElement("a"), { href: "../console/", textContent: "Sign in" });
    area?.replaceChildren("You are not signed in. ", link, " to send requests, or enter a key with Authorize.");
    return { projectId: () => undefined };
  }
  const projects = document.createElement("select");
  projects.ariaLabel = "Project";
  for (const { id, name } of session.projects) projects.add(new Option(name, id));
  const wanted = new URLSearchParams(location.search).get("project");
  const known = session.projects.find(({ id, name }) => id === wanted || name === wanted);
  if (known !== undefined) projects.value = known.id;
  area?.replaceChildren(`Requests use your session: ${session.principal.name} in`, projects);
  return { projectId: () => (projects.value === "" ? undefined : projects.value) };
}
