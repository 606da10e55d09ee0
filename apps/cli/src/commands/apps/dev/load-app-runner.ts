import { hasCode } from "@shoal/primitives";
import { ExitError } from "../../../core/errors.ts";
import { exitCodes } from "../../../core/exit-codes.ts";

export type AppRunner = typeof import("@shoal/app-runner");

/** The package is optional. @throws {ExitError} with the install command if it is missing. */
export async function loadAppRunner(): Promise<AppRunner> {
  try {
    return await import("@shoal/app-runner");
  } catch (error) {
    if (hasCode(error, "ERR_MODULE_NOT_FOUND") && error.message.includes("@shoal/app-runner"))
      throw new ExitError(
        exitCodes.start.status,
        "The package that runs apps is not installed.",
        "Install it with: npm install --global @shoal/app-runner",
      );
    throw error;
  }
}
