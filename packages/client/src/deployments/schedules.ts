import { createSchedule, deleteSchedule, listSchedules, pauseSchedule, resumeSchedule } from "@shoal/contract";
import type { CreateSchedule, ListSchedules, Schedule } from "@shoal/schemas";
import type { Call, CallOptions, ItemPage, Transport } from "@shoal/transport";

/** Regular invocations of app actions. */
export class Schedules {
  readonly #transport: Transport;
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * Invokes an action at the times of a cron expression.
   *
   * @example
   * await shoal.schedules.create({ app_name: "shop", action_name: "report", cron: "0 9 * * 1-5", time_zone: "Europe/Berlin" });
   *
   * @throws {ApiError} 400 for invalid or too frequent times; 404 for an unknown app, version or action; 409 at the limit of the app.
   */
  create(body: CreateSchedule, options?: CallOptions): Call<Schedule> {
    return this.#transport.call(createSchedule, { body }, options);
  }
  /** Lists schedules, newest first. `for await` iterates over all pages. */
  list(query: ListSchedules = {}, options?: CallOptions): Call<ItemPage<Schedule>> {
    return this.#transport.call(listSchedules, { query }, options);
  }
  /** Pauses a schedule. @throws {ApiError} 404 `not_found`. */
  pause(id: string, options?: CallOptions): Call<Schedule> {
    return this.#transport.call(pauseSchedule, { params: { id } }, options);
  }
  /** Resumes a schedule with its next due time. @throws {ApiError} 404 `not_found`. */
  resume(id: string, options?: CallOptions): Call<Schedule> {
    return this.#transport.call(resumeSchedule, { params: { id } }, options);
  }
  /** Deletes a schedule; running invocations continue. @throws {ApiError} 404 `not_found`. */
  delete(id: string, options?: CallOptions): Call<void> {
    return this.#transport.call(deleteSchedule, { params: { id } }, options);
  }
}
