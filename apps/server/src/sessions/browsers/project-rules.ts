import type { NetworkRuleLists } from "@shoal/contract/network";
import type { ProjectLookup } from "../../http/auth/project-lookup.ts";
import type { Log } from "../../log/log.ts";
import type { RunningSession } from "./running-session.ts";

export interface ProjectRulesParts {
  readonly projects: Pick<ProjectLookup, "find">;
  readonly sessions: ReadonlyMap<string, RunningSession>;
  readonly log: Log;
}

/** Applies the network rules of projects to their running sessions. */
export class ProjectRules {
  readonly #parts: ProjectRulesParts;

  constructor(parts: ProjectRulesParts) {
    this.#parts = parts;
  }

  async of(projectId: string): Promise<NetworkRuleLists | undefined> {
    const project = await this.#parts.projects.find(projectId);
    return project?.network ?? undefined;
  }

  /** Also after a start, because the rules may have changed meanwhile. Never rejects. */
  async apply(session: RunningSession): Promise<void> {
    const { id, project_id } = session.row;
    try {
      const rules = await this.of(project_id);
      session.instance?.setRules("project", rules);
    } catch (error) {
      // The change feed reports its next connection, and all sessions are then updated.
      this.#parts.log.warn({ session_id: id, err: error }, "the network rules of the project could not be read");
    }
  }

  /** @param projectId - `undefined` = any project may have changed. */
  async changed(projectId: string | undefined): Promise<void> {
    for (const session of this.#parts.sessions.values())
      if (projectId === undefined || session.row.project_id === projectId) await this.apply(session);
  }
}
