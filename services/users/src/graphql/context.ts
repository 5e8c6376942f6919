import type { RequestContext } from "@tributary/kit/graphql/request-context";
import type { UserActions } from "../actions.ts";
import type { Loaders } from "./loaders.ts";

export type Context = RequestContext<UserActions, Loaders>;
