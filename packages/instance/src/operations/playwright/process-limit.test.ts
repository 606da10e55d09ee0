import { describe, expect, it } from "vitest";
import { processStartError } from "./process-limit.ts";

describe("a process for code that does not start", () => {
  it("is an overload that passes when it was ended at its time limit", () => {
    const error = new Error("the process for Playwright code ended with signal SIGKILL");
    expect(processStartError("Playwright code cannot be run", { error, isLate: true })).toMatchObject({
      status: 503,
      code: "overloaded",
      message:
        "Playwright code cannot be run: its process did not start within 30 s. The machine of the session is busy.",
      retryAfterSeconds: 5,
    });
  });

  it("is the session's limit when the system has no more processes", () => {
    const cause = Object.assign(new Error("spawn EAGAIN"), { code: "EAGAIN" });
    const error = new Error("could not be started", { cause });
    expect(processStartError("The REPL cannot be started", { error, isLate: false })).toMatchObject({
      status: 429,
      code: "too_many_processes",
    });
  });
});
