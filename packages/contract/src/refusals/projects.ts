import { invalid, nameTaken, notFound, type Refusal } from "./refusal.ts";

/** 404 for a project that does not exist. */
export function projectNotFound(idOrName: string): Refusal {
  return notFound(`Project ${idOrName} was not found.`, "List the projects with projects.list.");
}

/** 404 for something new in an archived or deleted project. */
export function projectClosed(projectId: string): Refusal {
  return {
    status: 404,
    code: "project_not_found",
    problem: `Project ${projectId} was archived or deleted and accepts nothing new.`,
    hint: "Use another project, or reopen it with projects.update.",
  };
}

/** 409 for the name of another project. */
export function projectNameTaken(name: string): Refusal {
  return nameTaken(
    `A project named ${JSON.stringify(name)} already exists.`,
    "Choose another name, or use that project.",
  );
}

/** 403 for a project's key in an operation of the whole organisation. @param action - `create projects` */
export function needsOrganizationKey(action: string): Refusal {
  return {
    status: 403,
    code: "forbidden",
    problem: `This API key belongs to one project and cannot ${action}.`,
    hint: "Use a key of the whole organisation.",
  };
}

/** 409 for deleting or archiving the last active project. */
export function lastActiveProject(name: string): Refusal {
  return {
    status: 409,
    code: "last_active_project",
    problem: `Project ${name} is the last active project.`,
    hint: "Create another project with projects.create first.",
  };
}

/** 409 for deleting a project with contents. @param contents - `running sessions` */
export function projectNotEmpty(name: string, contents: readonly string[]): Refusal {
  return {
    status: 409,
    code: "project_not_empty",
    problem: `Project ${name} still has ${contents.join(", ")}.`,
    hint: "Delete them first, or archive the project.",
  };
}

/** 400 for a limit of pooled sessions. */
export function poolLimitUnsupported(): Refusal {
  return invalid("body.max_pooled_sessions", "pool browsers count towards max_concurrent_sessions", {
    hint: "Set max_concurrent_sessions instead.",
  });
}
