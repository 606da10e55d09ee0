import type { Instance, Placement } from "@shoal/placement";
import { withMembers } from "./with-members.ts";

/** An instance that is to die at one of the service's requests to it. */
export interface Doom {
  /** Method and beginning of the path: `PUT /_instance/profile`. */
  readonly at: string;
  /** `before` = nobody takes the request any more; `during` = it has been sent; `after` = it was answered. */
  readonly when: "before" | "during" | "after";
}

/** The placement with instances that can be doomed. */
export interface DoomedInstances {
  readonly around: (placement: Placement) => Placement;
  /** The next one that is asked for this dies then. */
  doom(next: Doom): void;
  /** Whether the one that was doomed has died of it. */
  isDone(): boolean;
}

/** Kills real instances at a chosen request of the service. */
export function doomedInstances(): DoomedInstances {
  let next: Doom | undefined;

  async function kill({ ended, pid }: Instance): Promise<void> {
    process.kill(pid, "SIGKILL");
    await ended;
  }

  function mortal(instance: Instance): Instance {
    const request: Instance["request"] = async (init, body) => {
      if (next === undefined || !`${init.method} ${init.path}`.startsWith(next.at)) return instance.request(init, body);
      const { when } = next;
      next = undefined;
      if (when === "before") await kill(instance);
      const answering = instance.request(init, body);
      if (when === "during") process.kill(instance.pid, "SIGKILL");
      const answer = await answering;
      if (when === "after") await kill(instance);
      return answer;
    };
    return withMembers(instance, { request });
  }

  return {
    around: (placement) => withMembers(placement, { acquire: async (...given) => mortal(await placement.acquire(...given)) }),
    doom(doom) {
      next = doom;
    },
    isDone: () => next === undefined,
  };
}
