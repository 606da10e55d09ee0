import { projectClosed } from "@shoal/contract/refusals";
import { ServiceError } from "@shoal/router";

/** Raised by the database function `shoal_project_open`. */
const projectClosedState = "SH404";

/** Converts the error of a closed project to 404 `project_not_found`; returns other errors unchanged. */
export function explainClosedProject(error: unknown): unknown {
  if (!(error instanceof Error) || !("code" in error) || error.code !== projectClosedState) return error;
  if (!("detail" in error) || typeof error.detail !== "string") return error;
  return ServiceError.of(projectClosed(error.detail), { cause: error });
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
