// Made from schema.graphql and codegen.json by `npm run generate`. Do not edit.
/* oxlint-disable */
import type { RequireResolvers } from '@tributary/kit/graphql/resolver-types';
import type { GraphQLResolveInfo, GraphQLScalarType, GraphQLScalarTypeConfig } from 'graphql';
import type { LoadedPost as LoadedPostModel, Content as ContentModel, Author as AuthorModel } from '../model.ts';
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
  /** The post with this id; null if it does not exist or the caller may not read it. */
  readonly post?: Maybe<Post>;
  /** Posts of one status, newest first. For other statuses than PUBLISHED: the caller's own posts, or all posts with the scope `posts:read:all`. Errors: `UNAUTHENTICATED`, `BAD_USER_INPUT`, `INVALID_CURSOR`. */
  readonly posts?: Maybe<PostConnection>;
};

export type QueryPostArgs = {
  id: Scalars['ID']['input'];
};

export type QueryPostsArgs = {
  first?: InputMaybe<Scalars['Int']['input']>;
  after?: InputMaybe<Scalars['String']['input']>;
  status?: InputMaybe<PostStatus>;
  authorId?: InputMaybe<Scalars['ID']['input']>;
  search?: InputMaybe<Scalars['String']['input']>;
};

export type Mutation = {
  readonly __typename?: 'Mutation';
  /** Creates a draft with the caller as its author. Requires the scope `posts:write`. Errors: `UNAUTHENTICATED`, `FORBIDDEN`, `BAD_USER_INPUT`, `IDEMPOTENCY_KEY_IN_FLIGHT`, `IDEMPOTENCY_KEY_REUSED`. */
  readonly createPost?: Maybe<CreatePostPayload>;
  /** Changes a post. Requires the scope `posts:write` for the caller's own posts, or `posts:write:all`. Errors: `UNAUTHENTICATED`, `FORBIDDEN`, `NOT_FOUND`, `BAD_USER_INPUT`. */
  readonly updatePost?: Maybe<UpdatePostPayload>;
  /** Publishes a draft or an archived post. Requires the scope `posts:write` for the caller's own posts, or `posts:write:all`. Errors: `UNAUTHENTICATED`, `FORBIDDEN`, `NOT_FOUND`, `INVALID_STATE`. */
  readonly publishPost?: Maybe<PublishPostPayload>;
  /** Archives a published post. Requires the scope `posts:write` for the caller's own posts, or `posts:write:all`. Errors: `UNAUTHENTICATED`, `FORBIDDEN`, `NOT_FOUND`, `INVALID_STATE`. */
  readonly archivePost?: Maybe<ArchivePostPayload>;
};

export type MutationCreatePostArgs = {
  input: CreatePostInput;
};

export type MutationUpdatePostArgs = {
  input: UpdatePostInput;
};

export type MutationPublishPostArgs = {
  input: PublishPostInput;
};

export type MutationArchivePostArgs = {
  input: ArchivePostInput;
};

/** A post. Drafts and archived posts are visible only to their author and with the scope `posts:read:all`. */
export type Post = {
  readonly __typename?: 'Post';
  readonly id: Scalars['ID']['output'];
  /** 1 to 200 characters. */
  readonly title: Scalars['String']['output'];
  /** @deprecated Use `content { text }`, which also has the format. */
  readonly body?: Maybe<Scalars['String']['output']>;
  /** The text with its format; null while the post has no text. */
  readonly content?: Maybe<PostContent>;
  readonly status: PostStatus;
  readonly author?: Maybe<User>;
  readonly createdAt: Scalars['DateTime']['output'];
  /** When title or content last changed. */
  readonly updatedAt: Scalars['DateTime']['output'];
  /** When it was first published; null for a draft. */
  readonly publishedAt?: Maybe<Scalars['DateTime']['output']>;
};

export type PostStatus =
  /** Not published yet. */
  | 'DRAFT'
  /** Visible to everyone. */
  | 'PUBLISHED'
  /** No longer published; it can be published again. */
  | 'ARCHIVED';

/** The text of a post and its format. */
export type PostContent = {
  readonly __typename?: 'PostContent';
  readonly format: ContentFormat;
  /** The text as the author sent it, at most 100,000 characters. */
  readonly text: Scalars['String']['output'];
  /** The text as HTML: escaped, with paragraphs and line breaks only. Markdown is not rendered. */
  readonly html: Scalars['String']['output'];
};

export type ContentFormat =
  | 'PLAIN'
  | 'MARKDOWN';

export type PostConnection = {
  readonly __typename?: 'PostConnection';
  readonly edges: ReadonlyArray<PostEdge>;
  readonly nodes: ReadonlyArray<Post>;
  readonly pageInfo: PageInfo;
};

export type PostEdge = {
  readonly __typename?: 'PostEdge';
  readonly cursor: Scalars['String']['output'];
  readonly node: Post;
};

/** The position of a page in its list (Relay). */
export type PageInfo = {
  readonly __typename?: 'PageInfo';
  readonly hasNextPage: Scalars['Boolean']['output'];
  readonly hasPreviousPage: Scalars['Boolean']['output'];
  readonly startCursor?: Maybe<Scalars['String']['output']>;
  readonly endCursor?: Maybe<Scalars['String']['output']>;
};

export type User = {
  readonly __typename?: 'User';
  readonly id: Scalars['ID']['output'];
  /** The user's published posts, newest first. Errors: `BAD_USER_INPUT`. */
  readonly posts?: Maybe<ReadonlyArray<Maybe<Post>>>;
  /** The user's posts of one status that the caller may read, newest first. Errors: `UNAUTHENTICATED`, `BAD_USER_INPUT`, `INVALID_CURSOR`. */
  readonly postsConnection?: Maybe<PostConnection>;
};

export type UserPostsArgs = {
  first?: InputMaybe<Scalars['Int']['input']>;
  after?: InputMaybe<Scalars['ID']['input']>;
};

export type UserPostsConnectionArgs = {
  first?: InputMaybe<Scalars['Int']['input']>;
  after?: InputMaybe<Scalars['String']['input']>;
  status?: InputMaybe<PostStatus>;
};

export type PostContentInput = {
  readonly format: ContentFormat;
  /** At most 60,000 characters, and 60,000 bytes as JSON. */
  readonly text: Scalars['String']['input'];
};

export type CreatePostInput = {
  readonly title: Scalars['String']['input'];
  readonly content?: InputMaybe<PostContentInput>;
  /**
   * The same as `content` in the format `PLAIN`.
   * @deprecated Use `content`.
   */
  readonly body?: InputMaybe<Scalars['String']['input']>;
  /** 1 to 255 visible ASCII characters. A second request within 24 hours with the same key and input returns the post that the first one created. */
  readonly idempotencyKey?: InputMaybe<Scalars['String']['input']>;
};

/** Absent fields remain unchanged; null clears the content. */
export type UpdatePostInput = {
  readonly id: Scalars['ID']['input'];
  readonly title?: InputMaybe<Scalars['String']['input']>;
  readonly content?: InputMaybe<PostContentInput>;
  /**
   * The text of `content`. The format of the post remains.
   * @deprecated Use `content`.
   */
  readonly body?: InputMaybe<Scalars['String']['input']>;
};

export type PublishPostInput = {
  readonly id: Scalars['ID']['input'];
};

export type ArchivePostInput = {
  readonly id: Scalars['ID']['input'];
};

export type CreatePostPayload = {
  readonly __typename?: 'CreatePostPayload';
  readonly post?: Maybe<Post>;
};

export type UpdatePostPayload = {
  readonly __typename?: 'UpdatePostPayload';
  readonly post?: Maybe<Post>;
};

export type PublishPostPayload = {
  readonly __typename?: 'PublishPostPayload';
  readonly post?: Maybe<Post>;
};

export type ArchivePostPayload = {
  readonly __typename?: 'ArchivePostPayload';
  readonly post?: Maybe<Post>;
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
  Post: Post;
  User: User;
};

/** Mapping of federation reference types */
export type FederationReferenceTypes = {
  Post:
    ( { __typename: 'Post' }
    & GraphQLRecursivePick<FederationTypes['Post'], {"id":true}> );
  User:
    ( { __typename: 'User' }
    & GraphQLRecursivePick<FederationTypes['User'], {"id":true}> );
};

/** Mapping between all available schema types and the resolvers types */
export type ResolversTypes = {
  DateTime: ResolverTypeWrapper<Scalars['DateTime']['output']>;
  Query: ResolverTypeWrapper<Record<PropertyKey, never>>;
  ID: ResolverTypeWrapper<Scalars['ID']['output']>;
  Int: ResolverTypeWrapper<Scalars['Int']['output']>;
  String: ResolverTypeWrapper<Scalars['String']['output']>;
  Mutation: ResolverTypeWrapper<Record<PropertyKey, never>>;
  Post: ResolverTypeWrapper<LoadedPostModel>;
  PostStatus: PostStatus;
  PostContent: ResolverTypeWrapper<ContentModel>;
  ContentFormat: ContentFormat;
  PostConnection: ResolverTypeWrapper<Omit<PostConnection, 'edges' | 'nodes'> & { edges: ReadonlyArray<ResolversTypes['PostEdge']>, nodes: ReadonlyArray<ResolversTypes['Post']> }>;
  PostEdge: ResolverTypeWrapper<Omit<PostEdge, 'node'> & { node: ResolversTypes['Post'] }>;
  PageInfo: ResolverTypeWrapper<PageInfo>;
  Boolean: ResolverTypeWrapper<Scalars['Boolean']['output']>;
  User: ResolverTypeWrapper<AuthorModel>;
  PostContentInput: PostContentInput;
  CreatePostInput: CreatePostInput;
  UpdatePostInput: UpdatePostInput;
  PublishPostInput: PublishPostInput;
  ArchivePostInput: ArchivePostInput;
  CreatePostPayload: ResolverTypeWrapper<Omit<CreatePostPayload, 'post'> & { post?: Maybe<ResolversTypes['Post']> }>;
  UpdatePostPayload: ResolverTypeWrapper<Omit<UpdatePostPayload, 'post'> & { post?: Maybe<ResolversTypes['Post']> }>;
  PublishPostPayload: ResolverTypeWrapper<Omit<PublishPostPayload, 'post'> & { post?: Maybe<ResolversTypes['Post']> }>;
  ArchivePostPayload: ResolverTypeWrapper<Omit<ArchivePostPayload, 'post'> & { post?: Maybe<ResolversTypes['Post']> }>;
};

/** Mapping between all available schema types and the resolvers parents */
export type ResolversParentTypes = {
  DateTime: Scalars['DateTime']['output'];
  Query: Record<PropertyKey, never>;
  ID: Scalars['ID']['output'];
  Int: Scalars['Int']['output'];
  String: Scalars['String']['output'];
  Mutation: Record<PropertyKey, never>;
  Post: LoadedPostModel;
  PostContent: ContentModel;
  PostConnection: Omit<PostConnection, 'edges' | 'nodes'> & { edges: ReadonlyArray<ResolversParentTypes['PostEdge']>, nodes: ReadonlyArray<ResolversParentTypes['Post']> };
  PostEdge: Omit<PostEdge, 'node'> & { node: ResolversParentTypes['Post'] };
  PageInfo: PageInfo;
  Boolean: Scalars['Boolean']['output'];
  User: AuthorModel;
  PostContentInput: PostContentInput;
  CreatePostInput: CreatePostInput;
  UpdatePostInput: UpdatePostInput;
  PublishPostInput: PublishPostInput;
  ArchivePostInput: ArchivePostInput;
  CreatePostPayload: Omit<CreatePostPayload, 'post'> & { post?: Maybe<ResolversParentTypes['Post']> };
  UpdatePostPayload: Omit<UpdatePostPayload, 'post'> & { post?: Maybe<ResolversParentTypes['Post']> };
  PublishPostPayload: Omit<PublishPostPayload, 'post'> & { post?: Maybe<ResolversParentTypes['Post']> };
  ArchivePostPayload: Omit<ArchivePostPayload, 'post'> & { post?: Maybe<ResolversParentTypes['Post']> };
};

export interface DateTimeScalarConfig extends GraphQLScalarTypeConfig<ResolversTypes['DateTime'], any> {
  name: 'DateTime';
}

export type QueryResolvers<ContextType = Context, ParentType extends ResolversParentTypes['Query'] = ResolversParentTypes['Query']> = {
  post?: Resolver<Maybe<ResolversTypes['Post']>, ParentType, ContextType, RequireFields<QueryPostArgs, 'id'>>;
  posts?: Resolver<Maybe<ResolversTypes['PostConnection']>, ParentType, ContextType, RequireFields<QueryPostsArgs, 'first' | 'status'>>;
};

export type MutationResolvers<ContextType = Context, ParentType extends ResolversParentTypes['Mutation'] = ResolversParentTypes['Mutation']> = {
  createPost?: Resolver<Maybe<ResolversTypes['CreatePostPayload']>, ParentType, ContextType, RequireFields<MutationCreatePostArgs, 'input'>>;
  updatePost?: Resolver<Maybe<ResolversTypes['UpdatePostPayload']>, ParentType, ContextType, RequireFields<MutationUpdatePostArgs, 'input'>>;
  publishPost?: Resolver<Maybe<ResolversTypes['PublishPostPayload']>, ParentType, ContextType, RequireFields<MutationPublishPostArgs, 'input'>>;
  archivePost?: Resolver<Maybe<ResolversTypes['ArchivePostPayload']>, ParentType, ContextType, RequireFields<MutationArchivePostArgs, 'input'>>;
};

export type PostResolvers<ContextType = Context, ParentType extends ResolversParentTypes['Post'] = ResolversParentTypes['Post'], FederationReferenceType extends FederationReferenceTypes['Post'] = FederationReferenceTypes['Post']> = {
  __resolveReference?: ReferenceResolver<Maybe<ResolversTypes['Post']> | FederationReferenceType, FederationReferenceType, ContextType>;
  id?: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
  title?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  body?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  content?: Resolver<Maybe<ResolversTypes['PostContent']>, ParentType, ContextType>;
  status?: Resolver<ResolversTypes['PostStatus'], ParentType, ContextType>;
  author?: Resolver<Maybe<ResolversTypes['User']>, ParentType, ContextType>;
  createdAt?: Resolver<ResolversTypes['DateTime'], ParentType, ContextType>;
  updatedAt?: Resolver<ResolversTypes['DateTime'], ParentType, ContextType>;
  publishedAt?: Resolver<Maybe<ResolversTypes['DateTime']>, ParentType, ContextType>;
};

export type PostContentResolvers<ContextType = Context, ParentType extends ResolversParentTypes['PostContent'] = ResolversParentTypes['PostContent']> = {
  format?: Resolver<ResolversTypes['ContentFormat'], ParentType, ContextType>;
  text?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  html?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
};

export type PostConnectionResolvers<ContextType = Context, ParentType extends ResolversParentTypes['PostConnection'] = ResolversParentTypes['PostConnection']> = {
  edges?: Resolver<ReadonlyArray<ResolversTypes['PostEdge']>, ParentType, ContextType>;
  nodes?: Resolver<ReadonlyArray<ResolversTypes['Post']>, ParentType, ContextType>;
  pageInfo?: Resolver<ResolversTypes['PageInfo'], ParentType, ContextType>;
};

export type PostEdgeResolvers<ContextType = Context, ParentType extends ResolversParentTypes['PostEdge'] = ResolversParentTypes['PostEdge']> = {
  cursor?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  node?: Resolver<ResolversTypes['Post'], ParentType, ContextType>;
};

export type PageInfoResolvers<ContextType = Context, ParentType extends ResolversParentTypes['PageInfo'] = ResolversParentTypes['PageInfo']> = {
  hasNextPage?: Resolver<ResolversTypes['Boolean'], ParentType, ContextType>;
  hasPreviousPage?: Resolver<ResolversTypes['Boolean'], ParentType, ContextType>;
  startCursor?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  endCursor?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
};

export type UserResolvers<ContextType = Context, ParentType extends ResolversParentTypes['User'] = ResolversParentTypes['User'], FederationReferenceType extends FederationReferenceTypes['User'] = FederationReferenceTypes['User']> = {
  __resolveReference?: ReferenceResolver<Maybe<ResolversTypes['User']> | FederationReferenceType, FederationReferenceType, ContextType>;
  id?: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
  posts?: Resolver<Maybe<ReadonlyArray<Maybe<ResolversTypes['Post']>>>, ParentType, ContextType, RequireFields<UserPostsArgs, 'first'>>;
  postsConnection?: Resolver<Maybe<ResolversTypes['PostConnection']>, ParentType, ContextType, RequireFields<UserPostsConnectionArgs, 'first' | 'status'>>;
};

export type CreatePostPayloadResolvers<ContextType = Context, ParentType extends ResolversParentTypes['CreatePostPayload'] = ResolversParentTypes['CreatePostPayload']> = {
  post?: Resolver<Maybe<ResolversTypes['Post']>, ParentType, ContextType>;
};

export type UpdatePostPayloadResolvers<ContextType = Context, ParentType extends ResolversParentTypes['UpdatePostPayload'] = ResolversParentTypes['UpdatePostPayload']> = {
  post?: Resolver<Maybe<ResolversTypes['Post']>, ParentType, ContextType>;
};

export type PublishPostPayloadResolvers<ContextType = Context, ParentType extends ResolversParentTypes['PublishPostPayload'] = ResolversParentTypes['PublishPostPayload']> = {
  post?: Resolver<Maybe<ResolversTypes['Post']>, ParentType, ContextType>;
};

export type ArchivePostPayloadResolvers<ContextType = Context, ParentType extends ResolversParentTypes['ArchivePostPayload'] = ResolversParentTypes['ArchivePostPayload']> = {
  post?: Resolver<Maybe<ResolversTypes['Post']>, ParentType, ContextType>;
};

type OptionalResolvers<ContextType = Context> = {
  DateTime?: GraphQLScalarType;
  Query?: QueryResolvers<ContextType>;
  Mutation?: MutationResolvers<ContextType>;
  Post?: PostResolvers<ContextType>;
  PostContent?: PostContentResolvers<ContextType>;
  PostConnection?: PostConnectionResolvers<ContextType>;
  PostEdge?: PostEdgeResolvers<ContextType>;
  PageInfo?: PageInfoResolvers<ContextType>;
  User?: UserResolvers<ContextType>;
  CreatePostPayload?: CreatePostPayloadResolvers<ContextType>;
  UpdatePostPayload?: UpdatePostPayloadResolvers<ContextType>;
  PublishPostPayload?: PublishPostPayloadResolvers<ContextType>;
  ArchivePostPayload?: ArchivePostPayloadResolvers<ContextType>;
};

export type Resolvers = RequireResolvers<OptionalResolvers, ResolversParentTypes>;
