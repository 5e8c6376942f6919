import type { RequestContext } from "@tributary/kit/graphql/request-context";
import type { CommentActions } from "../actions.ts";
import type { Loaders } from "./loaders.ts";

export type Context = RequestContext<CommentActions, Loaders>;
