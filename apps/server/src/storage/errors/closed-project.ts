import { ServiceError } from "@shoal/router";

/** Raised by the database function `shoal_project_open`. */
const projectClosed = "SH404";

/** Converts the error of a closed project to 404 `project_not_found`; returns other errors unchanged. */
export function explainClosedProject(error: unknown): unknown {
  if (!(error instanceof Error) || !("code" in error) || error.code !== projectClosed) return error;
  const project = "detail" in error && typeof error.detail === "string" ? ` ${error.detail}` : "";
  return new ServiceError(
    404,
    "project_not_found",
    `Project${project} was archived or deleted and accepts nothing new.`,
    { hint: "Use another project, or reopen it with projects.update.", cause: error },
  );
}

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
