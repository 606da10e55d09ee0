import { ServiceError } from "@shoal/router";

/** The condition that the database's `shoal_project_open` raises. */
const projectClosed = "SH404";

/** Of a request whose project was archived or deleted while it ran, 404 `project_not_found`; any other error as it is. */
export function explainClosedProject(error: unknown): unknown {
  if (!(error instanceof Error) || !("code" in error) || error.code !== projectClosed) return error;
  const project = "detail" in error && typeof error.detail === "string" ? ` ${error.detail}` : "";
  return new ServiceError(
    404,
    "project_not_found",
    `Project${project} was archived or deleted, so nothing new can be made in it. Use another project, or reopen it with projects.update.`,
    { cause: error },
  );
}

/** Explains that error of a handler's. */
export function explainingClosedProjects<Call>(handler: (call: Call) => unknown): (call: Call) => unknown {
  return (call) => {
    try {
      const result = handler(call);
      if (!(result instanceof Promise)) return result;
      return result.catch((error: unknown) => {
        throw explainClosedProject(error);
      });
    } catch (error) {
      throw explainClosedProject(error);
    }
  };
}
