import { Button } from "@mantine/core";
import type { ErrorComponentProps } from "@tanstack/react-router";
import { Compass } from "lucide-react";
import { consolePath } from "../base/place.ts";
import { Empty, Failure } from "../parts/states.tsx";

export function NotFound() {
  return (
    <Empty icon={Compass} title="This page does not exist">
      <p>The address may be incomplete.</p>
      <Button component="a" href={consolePath} variant="light">
        Go to the start page
      </Button>
    </Empty>
  );
}

/** After an update of the service, the files of the old pages are missing: a reload loads the new ones. */
export function RouteFailure({ error }: ErrorComponentProps) {
  return (
    <Failure
      error={error}
      retry={() => {
        location.reload();
      }}
    />
  );
}
