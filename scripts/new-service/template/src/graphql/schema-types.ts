// Made from schema.graphql and codegen.json by `npm run generate`. Do not edit.
/* oxlint-disable */
import type { RequireResolvers } from '@tributary/kit/graphql/resolver-types';
import type { GraphQLResolveInfo, GraphQLScalarType, GraphQLScalarTypeConfig } from 'graphql';
import type { SpareGadget as SpareGadgetModel, Reference as ReferenceModel } from '../model.ts';
import type { Context } from './context.ts';
export type Maybe<T> = T | null | undefined;
export type InputMaybe<T> = T | null | undefined;
export type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
export type MakeOptional<T, K extends keyof T> = Omit<T, K> & { [SubKey in K]?: Maybe<T[SubKey]> };
export type MakeMaybe<T, K extends keyof T> = Omit<T, K> & { [SubKey in K]: Maybe<T[SubKey]> };
export type MakeEmpty<T extends { [key: string]: unknown }, K extends keyof T> = { [_ in K]?: never };
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
export type Omit<T, K extends keyof T> = Pick<T, Exclude<keyof T, K>>;
export type RequireFields<T, K extends keyof T> = Omit<T, K> & { [P in K]-?: NonNullable<T[P]> };
/** All built-in and custom scalars, mapped to their actual values */
export type Scalars = {
  ID: { input: string; output: string; }
  String: { input: string; output: string; }
  Boolean: { input: boolean; output: boolean; }
  Int: { input: number; output: number; }
  Float: { input: number; output: number; }
  /** An instant: RFC 3339 in UTC, with milliseconds, such as `2026-01-31T09:30:00.000Z`. */
  DateTime: { input: Date; output: Date; }
  _FieldSet: { input: string; output: string; }
};

export type Query = {
  readonly __typename?: 'Query';
  /** The spare gadget with this id; null if there is none. */
  readonly spareGadget?: Maybe<SpareGadget>;
  /** All spare gadgets, newest first. Errors: `BAD_USER_INPUT`, `INVALID_CURSOR`. */
  readonly spareGadgets?: Maybe<SpareGadgetConnection>;
};

export type QuerySpareGadgetArgs = {
  id: Scalars['ID']['input'];
};

export type QuerySpareGadgetsArgs = {
  first?: InputMaybe<Scalars['Int']['input']>;
  after?: InputMaybe<Scalars['String']['input']>;
  parentThingId?: InputMaybe<Scalars['ID']['input']>;
};

export type Mutation = {
  readonly __typename?: 'Mutation';
  /** Creates a spare gadget with the caller as its author. Requires the scope `gadget-shop:write`. Errors: `UNAUTHENTICATED`, `FORBIDDEN`, `BAD_USER_INPUT`, `IDEMPOTENCY_KEY_IN_FLIGHT`, `IDEMPOTENCY_KEY_REUSED`. */
  readonly createSpareGadget?: Maybe<CreateSpareGadgetPayload>;
  /** Changes a spare gadget of the caller. An absent field keeps its value. Requires the scope `gadget-shop:write`. Errors: `UNAUTHENTICATED`, `FORBIDDEN`, `NOT_FOUND`, `BAD_USER_INPUT`. */
  readonly changeSpareGadget?: Maybe<ChangeSpareGadgetPayload>;
  /** Deletes a spare gadget of the caller. Cannot be undone. Requires the scope `gadget-shop:write`. Errors: `UNAUTHENTICATED`, `FORBIDDEN`, `NOT_FOUND`. */
  readonly deleteSpareGadget?: Maybe<DeleteSpareGadgetPayload>;
};

export type MutationCreateSpareGadgetArgs = {
  input: CreateSpareGadgetInput;
};

export type MutationChangeSpareGadgetArgs = {
  input: ChangeSpareGadgetInput;
};

export type MutationDeleteSpareGadgetArgs = {
  input: DeleteSpareGadgetInput;
};

/** A spare gadget belongs to its author. */
export type SpareGadget = {
  readonly __typename?: 'SpareGadget';
  readonly id: Scalars['ID']['output'];
  /** 1 to 200 characters. */
  readonly title: Scalars['String']['output'];
  /** The parent thing of the spare gadget; null if it cannot be loaded, or the caller may not read it. */
  readonly parentThing?: Maybe<ParentThing>;
  /** The user who created the spare gadget; null if the user cannot be loaded. */
  readonly author?: Maybe<User>;
  readonly createdAt: Scalars['DateTime']['output'];
  /** When the author last changed the spare gadget, or created it. */
  readonly updatedAt: Scalars['DateTime']['output'];
};

export type ParentThing = {
  readonly __typename?: 'ParentThing';
  readonly id: Scalars['ID']['output'];
  /** The spare gadgets of the parent thing, newest first. Errors: `BAD_USER_INPUT`, `INVALID_CURSOR`. */
  readonly spareGadgets?: Maybe<SpareGadgetConnection>;
};

export type ParentThingSpareGadgetsArgs = {
  first?: InputMaybe<Scalars['Int']['input']>;
  after?: InputMaybe<Scalars['String']['input']>;
};

export type User = {
  readonly __typename?: 'User';
  readonly id: Scalars['ID']['output'];
};

export type SpareGadgetConnection = {
  readonly __typename?: 'SpareGadgetConnection';
  readonly edges: ReadonlyArray<SpareGadgetEdge>;
  readonly nodes: ReadonlyArray<SpareGadget>;
  readonly pageInfo: PageInfo;
};

export type SpareGadgetEdge = {
  readonly __typename?: 'SpareGadgetEdge';
  readonly cursor: Scalars['String']['output'];
  readonly node: SpareGadget;
};

/** The position of a page in its list (Relay). */
export type PageInfo = {
  readonly __typename?: 'PageInfo';
  readonly hasNextPage: Scalars['Boolean']['output'];
  readonly hasPreviousPage: Scalars['Boolean']['output'];
  readonly startCursor?: Maybe<Scalars['String']['output']>;
  readonly endCursor?: Maybe<Scalars['String']['output']>;
};

export type CreateSpareGadgetInput = {
  readonly parentThingId: Scalars['ID']['input'];
  /** 1 to 200 characters. */
  readonly title: Scalars['String']['input'];
  /** 1 to 255 visible ASCII characters. A second request within 24 hours with the same key and input returns the spare gadget that the first one created. */
  readonly idempotencyKey?: InputMaybe<Scalars['String']['input']>;
};

export type ChangeSpareGadgetInput = {
  readonly id: Scalars['ID']['input'];
  /** 1 to 200 characters. */
  readonly title?: InputMaybe<Scalars['String']['input']>;
};

export type DeleteSpareGadgetInput = {
  readonly id: Scalars['ID']['input'];
};

export type CreateSpareGadgetPayload = {
  readonly __typename?: 'CreateSpareGadgetPayload';
  readonly spareGadget?: Maybe<SpareGadget>;
};

export type ChangeSpareGadgetPayload = {
  readonly __typename?: 'ChangeSpareGadgetPayload';
  readonly spareGadget?: Maybe<SpareGadget>;
};

export type DeleteSpareGadgetPayload = {
  readonly __typename?: 'DeleteSpareGadgetPayload';
  /** The deleted spare gadget's id. */
  readonly id?: Maybe<Scalars['ID']['output']>;
};

export type ResolverTypeWrapper<T> = Promise<T> | T;

export type ReferenceResolver<TResult, TReference, TContext> = (
      reference: TReference,
      context: TContext,
      info: GraphQLResolveInfo
    ) => Promise<TResult> | TResult;

      type ScalarCheck<T, S> = S extends true ? T : NullableCheck<T, S>;
      type NullableCheck<T, S> = Maybe<T> extends T ? Maybe<ListCheck<NonNullable<T>, S>> : ListCheck<T, S>;
      type ListCheck<T, S> = T extends (infer U)[] ? NullableCheck<U, S>[] : GraphQLRecursivePick<T, S>;
      export type GraphQLRecursivePick<T, S> = { [K in keyof T & keyof S]: ScalarCheck<T[K], S[K]> };

export type ResolverWithResolve<TResult, TParent, TContext, TArgs> = {
  resolve: ResolverFn<TResult, TParent, TContext, TArgs>;
};
export type Resolver<TResult, TParent = Record<PropertyKey, never>, TContext = Record<PropertyKey, never>, TArgs = Record<PropertyKey, never>> = ResolverFn<TResult, TParent, TContext, TArgs> | ResolverWithResolve<TResult, TParent, TContext, TArgs>;

export type ResolverFn<TResult, TParent, TContext, TArgs> = (
  parent: TParent,
  args: TArgs,
  context: TContext,
  info: GraphQLResolveInfo
) => Promise<TResult> | TResult;

export type SubscriptionSubscribeFn<TResult, TParent, TContext, TArgs> = (
  parent: TParent,
  args: TArgs,
  context: TContext,
  info: GraphQLResolveInfo
) => AsyncIterable<TResult> | Promise<AsyncIterable<TResult>>;

export type SubscriptionResolveFn<TResult, TParent, TContext, TArgs> = (
  parent: TParent,
  args: TArgs,
  context: TContext,
  info: GraphQLResolveInfo
) => TResult | Promise<TResult>;

export interface SubscriptionSubscriberObject<TResult, TKey extends string, TParent, TContext, TArgs> {
  subscribe: SubscriptionSubscribeFn<{ [key in TKey]: TResult }, TParent, TContext, TArgs>;
  resolve?: SubscriptionResolveFn<TResult, { [key in TKey]: TResult }, TContext, TArgs>;
}

export interface SubscriptionResolverObject<TResult, TParent, TContext, TArgs> {
  subscribe: SubscriptionSubscribeFn<any, TParent, TContext, TArgs>;
  resolve: SubscriptionResolveFn<TResult, any, TContext, TArgs>;
}

export type SubscriptionObject<TResult, TKey extends string, TParent, TContext, TArgs> =
  | SubscriptionSubscriberObject<TResult, TKey, TParent, TContext, TArgs>
  | SubscriptionResolverObject<TResult, TParent, TContext, TArgs>;

export type SubscriptionResolver<TResult, TKey extends string, TParent = Record<PropertyKey, never>, TContext = Record<PropertyKey, never>, TArgs = Record<PropertyKey, never>> =
  | ((...args: any[]) => SubscriptionObject<TResult, TKey, TParent, TContext, TArgs>)
  | SubscriptionObject<TResult, TKey, TParent, TContext, TArgs>;

export type TypeResolveFn<TTypes, TParent = Record<PropertyKey, never>, TContext = Record<PropertyKey, never>> = (
  parent: TParent,
  context: TContext,
  info: GraphQLResolveInfo
) => Maybe<TTypes> | Promise<Maybe<TTypes>>;

export type IsTypeOfResolverFn<T = Record<PropertyKey, never>, TContext = Record<PropertyKey, never>> = (obj: T, context: TContext, info: GraphQLResolveInfo) => boolean | Promise<boolean>;

export type NextResolverFn<T> = () => Promise<T>;

export type DirectiveResolverFn<TResult = Record<PropertyKey, never>, TParent = Record<PropertyKey, never>, TContext = Record<PropertyKey, never>, TArgs = Record<PropertyKey, never>> = (
  next: NextResolverFn<TResult>,
  parent: TParent,
  args: TArgs,
  context: TContext,
  info: GraphQLResolveInfo
) => TResult | Promise<TResult>;

/** Mapping of federation types */
export type FederationTypes = {
  SpareGadget: SpareGadget;
  ParentThing: ParentThing;
};

/** Mapping of federation reference types */
export type FederationReferenceTypes = {
  SpareGadget:
    ( { __typename: 'SpareGadget' }
    & GraphQLRecursivePick<FederationTypes['SpareGadget'], {"id":true}> );
  ParentThing:
    ( { __typename: 'ParentThing' }
    & GraphQLRecursivePick<FederationTypes['ParentThing'], {"id":true}> );
};

/** Mapping between all available schema types and the resolvers types */
export type ResolversTypes = {
  DateTime: ResolverTypeWrapper<Scalars['DateTime']['output']>;
  Query: ResolverTypeWrapper<Record<PropertyKey, never>>;
  ID: ResolverTypeWrapper<Scalars['ID']['output']>;
  Int: ResolverTypeWrapper<Scalars['Int']['output']>;
  String: ResolverTypeWrapper<Scalars['String']['output']>;
  Mutation: ResolverTypeWrapper<Record<PropertyKey, never>>;
  SpareGadget: ResolverTypeWrapper<SpareGadgetModel>;
  ParentThing: ResolverTypeWrapper<ReferenceModel>;
  User: ResolverTypeWrapper<ReferenceModel>;
  SpareGadgetConnection: ResolverTypeWrapper<Omit<SpareGadgetConnection, 'edges' | 'nodes'> & { edges: ReadonlyArray<ResolversTypes['SpareGadgetEdge']>, nodes: ReadonlyArray<ResolversTypes['SpareGadget']> }>;
  SpareGadgetEdge: ResolverTypeWrapper<Omit<SpareGadgetEdge, 'node'> & { node: ResolversTypes['SpareGadget'] }>;
  PageInfo: ResolverTypeWrapper<PageInfo>;
  Boolean: ResolverTypeWrapper<Scalars['Boolean']['output']>;
  CreateSpareGadgetInput: CreateSpareGadgetInput;
  ChangeSpareGadgetInput: ChangeSpareGadgetInput;
  DeleteSpareGadgetInput: DeleteSpareGadgetInput;
  CreateSpareGadgetPayload: ResolverTypeWrapper<Omit<CreateSpareGadgetPayload, 'spareGadget'> & { spareGadget?: Maybe<ResolversTypes['SpareGadget']> }>;
  ChangeSpareGadgetPayload: ResolverTypeWrapper<Omit<ChangeSpareGadgetPayload, 'spareGadget'> & { spareGadget?: Maybe<ResolversTypes['SpareGadget']> }>;
  DeleteSpareGadgetPayload: ResolverTypeWrapper<DeleteSpareGadgetPayload>;
};

/** Mapping between all available schema types and the resolvers parents */
export type ResolversParentTypes = {
  DateTime: Scalars['DateTime']['output'];
  Query: Record<PropertyKey, never>;
  ID: Scalars['ID']['output'];
  Int: Scalars['Int']['output'];
  String: Scalars['String']['output'];
  Mutation: Record<PropertyKey, never>;
  SpareGadget: SpareGadgetModel;
  ParentThing: ReferenceModel;
  User: ReferenceModel;
  SpareGadgetConnection: Omit<SpareGadgetConnection, 'edges' | 'nodes'> & { edges: ReadonlyArray<ResolversParentTypes['SpareGadgetEdge']>, nodes: ReadonlyArray<ResolversParentTypes['SpareGadget']> };
  SpareGadgetEdge: Omit<SpareGadgetEdge, 'node'> & { node: ResolversParentTypes['SpareGadget'] };
  PageInfo: PageInfo;
  Boolean: Scalars['Boolean']['output'];
  CreateSpareGadgetInput: CreateSpareGadgetInput;
  ChangeSpareGadgetInput: ChangeSpareGadgetInput;
  DeleteSpareGadgetInput: DeleteSpareGadgetInput;
  CreateSpareGadgetPayload: Omit<CreateSpareGadgetPayload, 'spareGadget'> & { spareGadget?: Maybe<ResolversParentTypes['SpareGadget']> };
  ChangeSpareGadgetPayload: Omit<ChangeSpareGadgetPayload, 'spareGadget'> & { spareGadget?: Maybe<ResolversParentTypes['SpareGadget']> };
  DeleteSpareGadgetPayload: DeleteSpareGadgetPayload;
};

export interface DateTimeScalarConfig extends GraphQLScalarTypeConfig<ResolversTypes['DateTime'], any> {
  name: 'DateTime';
}

export type QueryResolvers<ContextType = Context, ParentType extends ResolversParentTypes['Query'] = ResolversParentTypes['Query']> = {
  spareGadget?: Resolver<Maybe<ResolversTypes['SpareGadget']>, ParentType, ContextType, RequireFields<QuerySpareGadgetArgs, 'id'>>;
  spareGadgets?: Resolver<Maybe<ResolversTypes['SpareGadgetConnection']>, ParentType, ContextType, RequireFields<QuerySpareGadgetsArgs, 'first'>>;
};

export type MutationResolvers<ContextType = Context, ParentType extends ResolversParentTypes['Mutation'] = ResolversParentTypes['Mutation']> = {
  createSpareGadget?: Resolver<Maybe<ResolversTypes['CreateSpareGadgetPayload']>, ParentType, ContextType, RequireFields<MutationCreateSpareGadgetArgs, 'input'>>;
  changeSpareGadget?: Resolver<Maybe<ResolversTypes['ChangeSpareGadgetPayload']>, ParentType, ContextType, RequireFields<MutationChangeSpareGadgetArgs, 'input'>>;
  deleteSpareGadget?: Resolver<Maybe<ResolversTypes['DeleteSpareGadgetPayload']>, ParentType, ContextType, RequireFields<MutationDeleteSpareGadgetArgs, 'input'>>;
};

export type SpareGadgetResolvers<ContextType = Context, ParentType extends ResolversParentTypes['SpareGadget'] = ResolversParentTypes['SpareGadget'], FederationReferenceType extends FederationReferenceTypes['SpareGadget'] = FederationReferenceTypes['SpareGadget']> = {
  __resolveReference?: ReferenceResolver<Maybe<ResolversTypes['SpareGadget']> | FederationReferenceType, FederationReferenceType, ContextType>;
  id?: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
  title?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  parentThing?: Resolver<Maybe<ResolversTypes['ParentThing']>, ParentType, ContextType>;
  author?: Resolver<Maybe<ResolversTypes['User']>, ParentType, ContextType>;
  createdAt?: Resolver<ResolversTypes['DateTime'], ParentType, ContextType>;
  updatedAt?: Resolver<ResolversTypes['DateTime'], ParentType, ContextType>;
};

export type ParentThingResolvers<ContextType = Context, ParentType extends ResolversParentTypes['ParentThing'] = ResolversParentTypes['ParentThing'], FederationReferenceType extends FederationReferenceTypes['ParentThing'] = FederationReferenceTypes['ParentThing']> = {
  __resolveReference?: ReferenceResolver<Maybe<ResolversTypes['ParentThing']> | FederationReferenceType, FederationReferenceType, ContextType>;
  id?: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
  spareGadgets?: Resolver<Maybe<ResolversTypes['SpareGadgetConnection']>, ParentType, ContextType, RequireFields<ParentThingSpareGadgetsArgs, 'first'>>;
};

export type UserResolvers<ContextType = Context, ParentType extends ResolversParentTypes['User'] = ResolversParentTypes['User']> = {
  id?: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
};

export type SpareGadgetConnectionResolvers<ContextType = Context, ParentType extends ResolversParentTypes['SpareGadgetConnection'] = ResolversParentTypes['SpareGadgetConnection']> = {
  edges?: Resolver<ReadonlyArray<ResolversTypes['SpareGadgetEdge']>, ParentType, ContextType>;
  nodes?: Resolver<ReadonlyArray<ResolversTypes['SpareGadget']>, ParentType, ContextType>;
  pageInfo?: Resolver<ResolversTypes['PageInfo'], ParentType, ContextType>;
};

export type SpareGadgetEdgeResolvers<ContextType = Context, ParentType extends ResolversParentTypes['SpareGadgetEdge'] = ResolversParentTypes['SpareGadgetEdge']> = {
  cursor?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  node?: Resolver<ResolversTypes['SpareGadget'], ParentType, ContextType>;
};

export type PageInfoResolvers<ContextType = Context, ParentType extends ResolversParentTypes['PageInfo'] = ResolversParentTypes['PageInfo']> = {
  hasNextPage?: Resolver<ResolversTypes['Boolean'], ParentType, ContextType>;
  hasPreviousPage?: Resolver<ResolversTypes['Boolean'], ParentType, ContextType>;
  startCursor?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  endCursor?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
};

export type CreateSpareGadgetPayloadResolvers<ContextType = Context, ParentType extends ResolversParentTypes['CreateSpareGadgetPayload'] = ResolversParentTypes['CreateSpareGadgetPayload']> = {
  spareGadget?: Resolver<Maybe<ResolversTypes['SpareGadget']>, ParentType, ContextType>;
};

export type ChangeSpareGadgetPayloadResolvers<ContextType = Context, ParentType extends ResolversParentTypes['ChangeSpareGadgetPayload'] = ResolversParentTypes['ChangeSpareGadgetPayload']> = {
  spareGadget?: Resolver<Maybe<ResolversTypes['SpareGadget']>, ParentType, ContextType>;
};

export type DeleteSpareGadgetPayloadResolvers<ContextType = Context, ParentType extends ResolversParentTypes['DeleteSpareGadgetPayload'] = ResolversParentTypes['DeleteSpareGadgetPayload']> = {
  id?: Resolver<Maybe<ResolversTypes['ID']>, ParentType, ContextType>;
};

type OptionalResolvers<ContextType = Context> = {
  DateTime?: GraphQLScalarType;
  Query?: QueryResolvers<ContextType>;
  Mutation?: MutationResolvers<ContextType>;
  SpareGadget?: SpareGadgetResolvers<ContextType>;
  ParentThing?: ParentThingResolvers<ContextType>;
  User?: UserResolvers<ContextType>;
  SpareGadgetConnection?: SpareGadgetConnectionResolvers<ContextType>;
  SpareGadgetEdge?: SpareGadgetEdgeResolvers<ContextType>;
  PageInfo?: PageInfoResolvers<ContextType>;
  CreateSpareGadgetPayload?: CreateSpareGadgetPayloadResolvers<ContextType>;
  ChangeSpareGadgetPayload?: ChangeSpareGadgetPayloadResolvers<ContextType>;
  DeleteSpareGadgetPayload?: DeleteSpareGadgetPayloadResolvers<ContextType>;
};

export type Resolvers = RequireResolvers<OptionalResolvers, ResolversParentTypes>;
