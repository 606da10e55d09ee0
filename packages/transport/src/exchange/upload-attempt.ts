import type { Plan, Settings } from "../request/plan.ts";
import type { OpenUpload, Upload } from "../request/upload.ts";
import { ConnectionError } from "../surface/errors.ts";
import { redirected } from "./error-answer.ts";
import { reasonOf } from "./failures.ts";
import { TransferClock } from "./transfer-clock.ts";

/** The body of one attempt, with a limit on the time without progress. */
export class UploadAttempt {
  readonly #plan: Plan;
  readonly #clock: TransferClock;
  readonly #upload: OpenUpload;

  private constructor(plan: Plan, clock: TransferClock, upload: OpenUpload) {
    this.#plan = plan;
    this.#clock = clock;
    this.#upload = upload;
  }

  static async open(plan: Plan, body: Upload): Promise<UploadAttempt> {
    const { options, timeoutMs, bounds } = plan;
    const clock = new TransferClock(bounds);
    clock.limit(timeoutMs, "no response arrived");
    const upload = await body.open((sentBytes) => {
      clock.limit(timeoutMs, "the upload made no progress");
      options.onUploadProgress?.({ sentBytes, totalBytes: body.sizeBytes });
    });
    return new UploadAttempt(plan, clock, upload);
  }

  get body(): OpenUpload["body"] {
    return this.#upload.body;
  }
  /** Aborted when the upload or its response makes no progress. */
  get signal(): AbortSignal {
    return this.#clock.signal;
  }
  waitForBody(): void {
    this.#clock.limit(this.#plan.timeoutMs, "the response did not end");
  }
  /** The error of a source, or a redirect: in both cases the runtime only reports a broken connection. */
  causeOf(settings: Settings, error: unknown): unknown {
    const failure = this.#upload.failure();
    if (failure !== undefined) return failure.error;
    const isRedirect = ConnectionError.isInstance(error) && reasonOf(error).includes("unexpected redirect");
    return isRedirect ? redirected(settings, this.#plan) : error;
  }
  close(): void {
    this.#upload.close();
    this.#clock.end();
  }
}
