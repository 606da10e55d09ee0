/** A sentence for each `ended_reason` of a session. */
export const endings: Readonly<Record<string, string>> = {
  deleted: "It was ended by a request.",
  timeout: "It was unused for its timeout.",
  max_duration: "It reached its maximum duration.",
  disconnected: "Its last client left, or none came in time.",
  browser_crashed: "Its browser crashed twice.",
  instance_lost: "Its process was lost.",
  server_stopped: "The service was stopped.",
};
