import { Skeleton, Text } from "@mantine/core";
import { ApiError } from "@shoal/client";
import type { Browser } from "@shoal/schemas";
import { useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import { blobOf } from "../../api/blob.ts";
import { useSignedIn } from "../../api/shoal.ts";
import { Failure } from "../../parts/states.tsx";
import { HowToKeep } from "./how-to-keep.tsx";
import styles from "./session-page.module.css";

/** What an ended session showed last, or why its picture is missing. */
export function LastPicture({ browser }: { readonly browser: Browser }) {
  const { session_id: id, telemetry } = browser;
  const { shoal } = useSignedIn();
  const { data, error, isPending } = useQuery({
    queryKey: ["last-picture", id],
    queryFn: async ({ signal }) => {
      try {
        const picture = await shoal.browsers.telemetry.lastPicture(id, { signal });
        return URL.createObjectURL(await blobOf(picture, "image/jpeg"));
      } catch (failure) {
        if (ApiError.isInstance(failure) && failure.status === 404) return null;
        throw failure;
      }
    },
    gcTime: 0,
    staleTime: Infinity,
  });
  useEffect(() => {
    if (data == null) return undefined;
    return () => {
      URL.revokeObjectURL(data);
    };
  }, [data]);
  if (isPending) return <Skeleton height={240} aria-label="Reading the last picture" />;
  if (error !== null) return <Failure error={error} />;
  if (data !== null)
    return (
      <figure className={styles.picture}>
        <img src={data} alt="The page when the session ended" />
        <figcaption>The page when the session ended</figcaption>
      </figure>
    );
  return (
    <Text component="div" size="sm" c="dimmed" ta="center">
      {telemetry?.browser?.page?.enabled === true ? (
        "No last picture is kept: the page was empty or did not answer, it could show a stored value, or the retention of telemetry has ended."
      ) : (
        <>
          No last picture was taken: the session did not capture pages.{" "}
          <HowToKeep start="Create sessions with the category page" />
        </>
      )}
    </Text>
  );
}
