import type { RequestContext } from "@tributary/kit/graphql/request-context";
import type { PostActions } from "../actions.ts";
import type { Loaders } from "./loaders.ts";

export type Context = RequestContext<PostActions, Loaders>;
