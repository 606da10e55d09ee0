import type { CreateBrowser } from "@shoal/schemas";

export interface Wanted {
  readonly start_url: string;
  readonly name: string;
  readonly timezone: string;
  readonly locale: string;
  readonly color_scheme: "" | "light" | "dark";
  readonly reduced_motion: boolean;
  /** Latitude and longitude in degrees: `47.37, 8.54` */
  readonly position: string;
}

export const nothingWanted: Wanted = {
  ...{ start_url: "", name: "", timezone: "", locale: "", color_scheme: "", reduced_motion: false, position: "" },
};

export type Request = Pick<CreateBrowser, "conditions" | "location" | "name" | "start_url">;

/** `undefined` for a text that is not a position. */
export function positionOf(text: string): readonly [latitude: number, longitude: number] | undefined {
  const [, latitude, longitude] = /^\s*(-?\d+(?:\.\d+)?)\s*,\s*(-?\d+(?:\.\d+)?)\s*$/.exec(text) ?? [];
  const position = [Number(latitude), Number(longitude)] as const;
  return Math.abs(position[0]) <= 90 && Math.abs(position[1]) <= 180 ? position : undefined;
}

export function isRequestable({ position }: Wanted): boolean {
  return position.trim() === "" || positionOf(position) !== undefined;
}

/** Only fields with a choice. */
export function requestOf(wanted: Wanted): Request {
  const { name, start_url } = wanted;
  const timezone = wanted.timezone.trim();
  const locale = wanted.locale.trim();
  const conditions = conditionsOf(wanted);
  return {
    ...(name !== "" && { name }),
    ...(start_url !== "" && { start_url }),
    ...((timezone !== "" || locale !== "") && {
      location: { ...(timezone !== "" && { timezone }), ...(locale !== "" && { locale }) },
    }),
    ...(Object.keys(conditions).length > 0 && { conditions }),
  };
}

/** Pages see a position only with its permission. */
function conditionsOf({ color_scheme, position, reduced_motion }: Wanted): NonNullable<Request["conditions"]> {
  const [latitude, longitude] = positionOf(position) ?? [];
  return {
    ...(latitude !== undefined &&
      longitude !== undefined && { permissions: [{ name: "geolocation" }], geolocation: { latitude, longitude } }),
    ...(color_scheme !== "" && { color_scheme }),
    ...(reduced_motion && { reduced_motion: "reduce" }),
  };
}
