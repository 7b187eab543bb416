"""Every feature gate of kube-scheduler's binary, 1.22 to 1.37: what it was, minor by minor.

One line a gate: its name, then each minor (without the `1.`) at which something changed, with the stage from there on
(A alpha, B beta, G generally available, D deprecated), `+` or `-` for on or off by default, and `!` where it is locked
to that; `x` says that the gate is gone from that minor on. So `26A- 32B- 34G+ 35G+!` was alpha from 1.26, beta and
still off from 1.32, on from 1.34, locked from 1.35. A gate that begins at 22 may be older.

Answers to pkg/features/kube_features.go, and to the gates of apiserver, apiextensions-apiserver, client-go and
component-base that register themselves with the same binary.
"""

GATES = """\
APIListChunking 22B+ 29G+! 33x
APIPriorityAndFairness 22B+ 29G+! 31x
APIResponseCompression 22B+
APISelfSubjectReview 26A- 27B+ 28G+! 30x
APIServerIdentity 22A- 26B+
APIServerTracing 22A- 27B+ 34G+! 37x
APIServerWebhookAuthenticationToken 37A-
APIServingWithRoutine 30A-
AdmissionWebhookMatchConditions 27A- 28B+ 30G+! 33x
AdvancedAuditing 22G+ 27G+! 28x
AggregatedDiscoveryEndpoint 26A- 27B+ 30G+! 33x
AggregatedDiscoveryRemoveBetaType 33D+ 35D+!
AllowDNSOnlyNodeCSR 31D-
AllowInsecureBackendProxy 22G+! 23x
AllowInsecureKubeletCertificateSigningRequests 31D-
AllowOverwriteTerminationGracePeriodSeconds 32D- 35D-!
AllowParsingUserUIDFromCertAuth 33B+
AllowServiceExternalIPs 36G+
AllowServiceLBStatusOnNonLB 29D- 32D-! 35x
AllowUnsafeMalformedObjectDeletion 32A- 37B+
AnonymousAuthConfigurableEndpoints 31A- 32B+ 34G+! 37x
AnyVolumeDataSource 22A- 24B+ 33G+! 37x
AppArmor 22B+ 31G+! 33x
AppArmorFields 30B+ 31G+! 33x
AtomicFIFO 36B+
AtomicWriteVolumeUserFields 37A-
AuthorizeNodeWithSelectors 31A- 32B+ 34G+! 37x
AuthorizePodWebsocketUpgradeCreatePermission 35B+
AuthorizeWithSelectors 31A- 32B+ 34G+! 37x
BoundServiceAccountTokenVolume 22G+! 23x
BtreeWatchCache 32B+ 33G+! 37x
CBORServingAndStorage 32A-
CPUManager 22B+ 26G+! 33x
CPUManagerPolicyAlphaOptions 23A-
CPUManagerPolicyBetaOptions 23B+
CPUManagerPolicyOptions 22A- 23B+ 33G+!
CRDObservedGenerationTracking 35B- 36B+
CRDValidationRatcheting 28A- 30B+ 33G+!
CRIListStreaming 36A-
CSIInlineVolume 22B+ 25G+! 27x
CSIMigration 22B+ 25G+! 27x
CSIMigrationAWS 22B- 23B+ 25G+! 27x
CSIMigrationAzureDisk 22B- 23B+ 24G+ 25G+! 27x
CSIMigrationAzureFile 22B- 24B+ 26G+ 27G+! 30x
CSIMigrationGCE 22B- 23B+ 25G+! 28x
CSIMigrationOpenStack 22B+ 24G+! 26x
CSIMigrationPortworx 23A- 25B- 31B+ 33G+! 36x
CSIMigrationRBD 24A- 28D- 31x
CSIMigrationvSphere 22B- 25B+ 26G+ 27G+! 29x
CSINodeExpandSecret 25A- 27B+ 29G+! 31x
CSIServiceAccountToken 22G+! 25x
CSIServiceAccountTokenSecrets 35B+ 36G+!
CSIStorageCapacity 22B+ 24G+! 28x
CSIVolumeFSGroupPolicy 22B+ 23G+! 25x
CSIVolumeHealth 22A-
CSRDuration 22B+ 24G+! 26x
ChangeContainerStatusOnKubeletRestart 35D-
ClearingNominatedNodeNameAfterBinding 34A- 35B+
ClientsAllowCARotation 36B+
ClientsAllowCBOR 32A-
ClientsAllowTLSCacheGC 36B+
ClientsPreferCBOR 32A-
CloudControllerManagerWatchBasedRoutesReconciliation 35A-
CloudControllerManagerWebhook 27A-
CloudDualStackNodeIPs 27A- 29B+ 30G+! 32x
ClusterTrustBundle 27A- 33B- 37G+
ClusterTrustBundleProjection 29A- 33B- 37G+
ComponentFlagz 32A- 36B+
ComponentSLIs 26A- 27B+ 32G+! 35x
ComponentStatusz 32A- 36B+
CompositePodGroup 37A-
ConcurrentWatchObjectDecode 31B- 37B+
ConfigurableFSGroupPolicy 22B+ 23G+! 25x
ConsistentHTTPGetHandlers 26G+ 30G+! 31x
ConsistentListFromCache 28A- 31B+ 34G+! 37x
ConsistentListFromCacheSkipTimeoutFallback 37A-
ConstrainedImpersonation 35A- 36B+
ContainerCheckpoint 25A- 30B+
ContainerRestartRules 34A- 35B+
ContainerStopSignals 33A-
ContextualLogging 25A- 30B- 33B+
ControllerManagerLeaderMigration 22B+ 24G+! 27x
CoordinatedLeaderElection 31A- 33B-
CronJobControllerV2 22G+! 23x
CronJobTimeZone 24A- 25B+ 27G+! 29x
CronJobsScheduledAnnotation 28B+ 32G+! 35x
CrossNamespaceVolumeDataSource 26A-
CustomCPUCFSQuotaPeriod 22A- 36G+
CustomResourceFieldSelectors 30A- 31B+ 32G+!
CustomResourceValidationExpressions 23A- 25B+ 29G+! 31x
DRAAdminAccess 32A- 34B+ 36G+!
DRAConsumableCapacity 34A- 36B+
DRAControlPlaneController 31A- 32x
DRADerivedAttributes 37A-
DRADeviceBindingConditions 34A- 36B+
DRADeviceCompatibilityGroups 37A-
DRADeviceTaintRules 35A- 36B- 37G+
DRADeviceTaints 33A- 36B+ 37G+
DRAExtendedResource 34A- 36B+ 37G+!
DRAFractionalCapacityRange 37B-
DRAListTypeAttributes 36A-
DRANodeAllocatableResources 36A-
DRAOptionalNodeOperations 37A-
DRAPartitionableDevices 33A- 36B+
DRAPartitionableDevicesType 37A-
DRAPrioritizedList 33A- 34B+ 36G+ 37G+!
DRAResourceClaimDeviceStatus 32A- 33B+ 37G+!
DRAResourceClaimGranularStatusAuthorization 36B+
DRAResourcePoolStatus 36A-
DRASchedulerFilterTimeout 34B+
DRAWorkloadResourceClaims 36A- 37B-
DaemonSetUpdateSurge 22B+ 25G+! 27x
DeclarativeValidation 33B+ 36G+!
DeclarativeValidationBeta 36B+
DeclarativeValidationTakeover 33B- 36D- 37D-!
DefaultHostNetworkHostPortsInPodTemplates 28D- 31x
DefaultPodSysctls 37A-
DefaultPodTopologySpread 22B+ 24G+! 26x
DelegateFSGroupToCSIDriver 22A- 23B+ 26G+! 28x
DeploymentReplicaSetTerminatingReplicas 33A- 35B+
DetectCacheInconsistency 34B+
DevicePluginCDIDevices 28A- 29B+ 31G+! 34x
DevicePlugins 22B+ 26G+! 28x
DisableAcceleratorUsageMetrics 22B+ 25G+! 28x
DisableAllocatorDualWrite 31A- 33B- 34G+ 35G+!
DisableCPUQuotaWithExclusiveCPUs 33B+ 36D+ 37D+!
DisableCloudProviders 22A- 29B+ 31G+! 33x
DisableKubeletCloudCredentialProviders 23A- 29B+ 31G+! 33x
DisableNodeKubeProxyVersion 29A- 31D- 33D+ 36D+!
DownwardAPIHugePages 22B- 23B+ 27G+! 29x
DryRun 22G+ 26G+! 28x
DynamicKubeletConfig 22D- 26x
DynamicResourceAllocation 26A- 32B- 34G+ 35G+!
EfficientWatchResumption 22B+ 24G+! 33x
ElasticIndexedJob 27B+ 31G+! 34x
EmptyDirVolumeMode 37A-
EndpointSlice 22G+! 25x
EndpointSliceNodeName 22G+! 25x
EndpointSliceProxying 22G+! 25x
EndpointSliceTerminatingCondition 22B+ 26G+! 28x
EnvFiles 34A- 35B+
EphemeralContainers 22A- 23B+ 25G+! 27x
EtcdRangeStream 37B+
EventedPLEG 26A-
EvictionRequestAPI 37A-
ExcludeAdmissionWebhookVirtualResources 37B+
ExecProbeTimeout 22G+ 35G+!
ExpandCSIVolumes 22B+ 24G+ 27x
ExpandInUsePersistentVolumes 22B+ 24G+ 27x
ExpandPersistentVolumes 22B+ 24G+ 27x
ExpandedDNSConfig 22A- 26B+ 28G+! 30x
ExperimentalHostUserNamespaceDefaulting 22B- 28D-! 30x
ExtendWebSocketsToKubelet 36B+
ExternalServiceAccountTokenSigner 32A- 34B+ 36G+!
GRPCContainerProbe 23A- 24B+ 27G+! 29x
GRPCContainerProbeTLS 37A-
GangScheduling 35A- 37x
GenericEphemeralVolume 22B+ 23G+! 25x
GenericWorkload 35A- 37B-
GitRepoVolumeDriver 33D- 36D-!
GracefulNodeShutdown 22B+
GracefulNodeShutdownBasedOnPodPriority 23A- 24B+
H2CContainerProbe 37A-
HPAConfigurableTolerance 33A- 35B+ 37G+!
HPAContainerMetrics 22A- 27B+ 30G+! 32x
HPAGeneration 37B+
HPAOptimizedSelectorStore 37B+
HPAScaleToZero 22A- 37B+
HonorPVReclaimPolicy 23A- 31B+ 33G+! 36x
HostnameOverride 34A- 35B+ 37G+!
HugePageStorageMediumSize 22G+! 24x
HugepageAwareEviction 37B+
IPTablesOwnershipCleanup 25A- 27B+ 28G+! 30x
IPv6DualStack 22B+ 23G+! 25x
IdentifyPodOS 23A- 24B+ 25G+! 27x
ImageMaximumGCAge 29A- 30B+ 35G+!
ImageVolume 31A- 33B- 35B+ 36G+!
ImageVolumeWithDigest 36A-
ImmutableEphemeralVolumes 22G+! 24x
InOrderInformers 33B+ 36G+!
InOrderInformersBatchProcess 35B+
InPlacePodLevelResourcesVerticalScaling 35A- 36B+
InPlacePodVerticalScaling 27A- 33B+ 35G+!
InPlacePodVerticalScalingAllocatedStatus 32A- 33D- 36x
InPlacePodVerticalScalingExclusiveCPUs 32A-
InPlacePodVerticalScalingExclusiveMemory 34A-
InPlacePodVerticalScalingInitContainers 36B+ 37G+!
InPlacePodVerticalScalingMemoryBackedVolumes 37A-
InPlacePodVerticalScalingSchedulerPreemption 37A-
InTreePluginAWSUnregister 22A- 31x
InTreePluginAzureDiskUnregister 22A- 31x
InTreePluginAzureFileUnregister 22A- 31x
InTreePluginGCEUnregister 22A- 31x
InTreePluginOpenStackUnregister 22A- 31x
InTreePluginPortworxUnregister 23A- 36x
InTreePluginRBDUnregister 23A- 28D- 31x
InTreePluginvSphereUnregister 22A- 31x
IndexedJob 22B+ 24G+! 26x
InformerResourceVersion 30A- 35G+
IngressClassNamespacedParams 22B+ 23G+! 25x
InterPodAffinityHostnameFastPath 37A-
JobBackoffLimitPerIndex 28A- 29B+ 33G+! 37x
JobManagedBy 30A- 32B+ 35G+!
JobMutableNodeSchedulingDirectives 23B+ 27G+! 29x
JobPodFailurePolicy 25A- 26B+ 31G+! 33x
JobPodReplacementPolicy 28A- 29B+ 34G+! 37x
JobReadyPods 23A- 24B+ 29G+! 31x
JobSuccessPolicy 30A- 31B+ 33G+! 37x
JobTrackingWithFinalizers 22A- 23B- 25B+ 26G+! 29x
KMSv1 28D+ 29D-
KMSv2 25A- 27B+ 29G+! 32x
KMSv2KDF 28B- 29G+! 32x
KubeProxyDrainingTerminatingNodes 28A- 30B+ 31G+! 33x
KubeProxyIPVS 37D+
KubeProxyNFTablesLocalhostNodePorts 37A-
KubeletAllocatedPodsEndpoint 37A-
KubeletCgroupDriverFromCRI 28A- 31B+ 34G+!
KubeletCrashLoopBackOffMax 32A- 35B+
KubeletCredentialProviders 22A- 24B+ 26G+! 28x
KubeletEnsureSecretPulledImages 33A- 35B+
KubeletFineGrainedAuthz 32A- 33B+ 36G+!
KubeletInUserNamespace 22A- 37B+
KubeletPSI 33A- 34B+ 36G+!
KubeletPodResources 22B+ 28G+! 30x
KubeletPodResourcesDynamicResources 27A- 34B+ 36G+!
KubeletPodResourcesGet 27A- 34B+ 36G+!
KubeletPodResourcesGetAllocatable 22A- 23B+ 28G+! 30x
KubeletPodResourcesListUseActivePods 34D+
KubeletRegistrationGetOnExistsOnly 32D-
KubeletSeparateDiskGC 29A- 31B+
KubeletServiceAccountTokenForCredentialProviders 33A- 34B+
KubeletTracing 25A- 27B+ 34G+!
LegacyServiceAccountTokenCleanUp 28A- 29B+ 30G+! 32x
LegacyServiceAccountTokenNoAutoGeneration 24B+ 26G+ 27G+! 29x
LegacyServiceAccountTokenTracking 26A- 27B+ 28G+! 30x
LegacySidecarContainers 33D- 34x
ListFromCacheSnapshot 33A- 34B+
LoadBalancerIPMode 29A- 30B+ 32G+! 35x
LocalStorageCapacityIsolation 22B+ 25G+! 27x
LocalStorageCapacityIsolationFSQuotaMonitoring 22A- 31B-
LogarithmicScaleDown 22B+ 31G+! 37x
LoggingAlphaOptions 25A-
LoggingBetaOptions 25B+
ManifestBasedAdmissionControlConfig 36A- 37B+
MatchLabelKeysInPodAffinity 29A- 31B+ 33G+!
MatchLabelKeysInPodTopologySpread 25A- 27B+
MatchLabelKeysInPodTopologySpreadSelectorMerge 34B+
MaxUnavailableStatefulSet 24A- 35B- 37B+
MemoryManager 22B+ 32G+! 36x
MemoryQoS 22A- 37B+
MinDomainsInPodTopologySpread 24A- 25B- 27B+ 30G+! 32x
MinimizeIPTablesRestore 26A- 27B+ 28G+! 30x
MixedProtocolLBService 22A- 24B+ 26G+! 28x
MultiCIDRRangeAllocator 25A- 29x
MultiCIDRServiceAllocator 27A- 31B- 33G+ 34G+!
MutableCSINodeAllocatableCount 33A- 34B- 35B+ 36G+!
MutablePVNodeAffinity 35A-
MutablePodResourcesForSuspendedJobs 35A- 36B+
MutableSchedulingDirectivesForSuspendedJobs 35A- 36B+
MutatingAdmissionPolicy 30A- 34B- 36G+
NFTablesNetlink 37B+
NFTablesProxyMode 29A- 31B+ 33G+!
NamespaceDefaultLabelName 22G+! 24x
NativeHistograms 36A- 37B+
NetworkPolicyEndPort 22B+ 25G+! 27x
NetworkPolicyStatus 24A- 28x
NewVolumeManagerReconstruction 27B- 28B+ 30G+! 32x
NodeControllerLeaseCircuitBreaker 37B+
NodeDeclaredFeatures 35A- 36B+ 37G+!
NodeInclusionPolicyInPodTopologySpread 25A- 26B+ 33G+!
NodeLease 22G+! 23x
NodeLifecycleConditions 37A-
NodeLogQuery 27A- 30B- 36G+!
NodeOutOfServiceVolumeDetach 24A- 26B+ 28G+! 32x
NodeSwap 22A- 28B- 30B+ 34G+!
NominatedNodeNameForExpectation 34A- 35B+
NonPreemptingPriority 22B+ 24G+! 26x
OpenAPIEnums 23A- 24B+
OpenAPIV3 23A- 24B+ 27G+! 29x
OpportunisticBatching 35B+
OrderedNamespaceDeletion 30B- 33B+ 34G+! 37x
PDBUnhealthyPodEvictionPolicy 26A- 27B+ 31G+! 33x
PLEGOnDemandRelist 36B+ 37G+!
PersistentVolumeClaimUnusedSinceTime 36A- 37B+
PersistentVolumeLastPhaseTransitionTime 28A- 29B+ 31G+! 33x
PodAffinityNamespaceSelector 22B+ 24G+! 26x
PodAndContainerStatsFromCRI 23A- 37B-
PodCertificateRequest 34A- 35B- 37G+
PodDeletionCost 22B+
PodDisruptionBudget 22G+! 25x
PodDisruptionConditions 25A- 26B+ 31G+! 34x
PodGroupPreemptionPolicy 37A-
PodHasNetworkCondition 25A- 28x
PodHostIPs 28A- 29B+ 30G+! 32x
PodIndexLabel 28B+ 32G+! 35x
PodLevelResourceManagers 36A- 37B-
PodLevelResources 32A- 34B+
PodLevelResourcesFixDefaulting 37B+
PodLevelResourcesFixKubeletQOSClass 37B+
PodLifecycleSleepAction 29A- 30B+ 34G+! 37x
PodLifecycleSleepActionAllowZero 32A- 33B+ 34G+! 37x
PodLogsQuerySplitStreams 32A-
PodObservedGenerationTracking 33A- 34B+ 35G+!
PodOverhead 22B+ 24G+! 26x
PodReadyToStartContainersCondition 28A- 29B+ 37G+!
PodSchedulingReadiness 26A- 27B+ 30G+!
PodSecurity 22A- 23B+ 25G+! 28x
PodTopologyLabelsAdmission 33A- 35B+
PodsAPI 36A- 37B+
PortForwardWebsockets 30A- 31B+
PreferNominatedNode 22B+ 24G+! 26x
PreferSameTrafficDistribution 33A- 34B+ 35G+!
PreventStaticPodAPIReferences 34B+ 37x
ProbeHostPodSecurityStandards 34G+! 35x
ProbeTerminationGracePeriod 22B- 25B+ 28G+! 29x
ProcMountType 22A- 31B- 33B+ 36G+!
ProxyTerminatingEndpoints 22A- 26B+ 28G+! 30x
QOSReserved 22A-
ReadWriteOncePod 22A- 27B+ 29G+! 31x
RecoverVolumeExpansionFailure 23A- 32B+ 34G+!
RecursiveReadOnlyMounts 30A- 31B+ 33G+!
ReduceDefaultCrashLoopBackOffDecay 33A-
RelaxedDNSSearchValidation 32A- 33B+ 34G+! 37x
RelaxedEnvironmentVariableValidation 30A- 32B+ 34G+!
RelaxedServiceNameValidation 34A- 36B+ 37G+!
ReloadKubeletClientCAFile 36B+
ReloadKubeletServerCertificateFile 31B+
RemainingItemCount 22B+ 29G+! 33x
RemoteRequestHeaderUID 32A- 33B+
RemoveSelfLink 22B+ 24G+! 30x
ResilientWatchCacheInitialization 31B+ 34G+! 37x
ResourceHealthStatus 31A- 36B+
ResourceHealthStatusMessage 36B+
RestartAllContainersOnContainerExits 35A- 36B+
RetroactiveDefaultStorageClass 25A- 26B+ 28G+! 29x
RetryGenerateName 30A- 31B+ 32G+! 37x
RotateKubeletServerCertificate 22B+
RuntimeClass 22G+! 24x
RuntimeClassInImageCriApi 29A-
SELinuxChangePolicy 32A- 33B+ 36G+!
SELinuxMount 30A- 33B- 37G+
SELinuxMountReadWriteOncePod 25A- 27B- 28B+ 36G+!
SchedulerAsyncAPICalls 34B-
SchedulerAsyncPreemption 32A- 33B+
SchedulerPopFromBackoffQ 33B+
SchedulerPreQueueingHints 37A-
SchedulerQueueingHints 28B- 32B+ 34G+! 37x
SeccompDefault 22A- 25B+ 27G+! 29x
SecurityContextDeny 27A- 30x
SelectorIndex 22G+! 25x
SeparateCacheWatchRPC 28B+ 33D- 36D-!
SeparateTaintEvictionController 29B+ 34G+!
ServerSideApply 22G+ 26G+! 32x
ServerSideFieldValidation 23A- 25B+ 27G+! 32x
ServiceAccountIssuerDiscovery 22G+! 23x
ServiceAccountNodeAudienceRestriction 32B- 33B+
ServiceAccountTokenJTI 29A- 30B+ 32G+!
ServiceAccountTokenNodeBinding 29A- 31B+ 33G+!
ServiceAccountTokenNodeBindingValidation 29A- 30B+ 32G+!
ServiceAccountTokenPodNodeInfo 29A- 30B+ 32G+!
ServiceCIDRStatusFieldWiping 36D+
ServiceIPStaticSubrange 24A- 25B+ 26G+! 28x
ServiceInternalTrafficPolicy 22B+ 26G+! 28x
ServiceLBNodePortControl 22B+ 24G+! 26x
ServiceLoadBalancerClass 22B+ 24G+! 26x
ServiceNodePortStaticSubrange 27A- 28B+ 29G+! 31x
ServiceTrafficDistribution 30A- 31B+ 33G+! 36x
SetHostnameAsFQDN 22G+! 24x
ShardedListAndWatch 36A-
SidecarContainers 28A- 29B+ 33G+! 37x
SizeBasedListCostEstimate 34B+
SizeMemoryBackedVolumes 22B+ 32G+! 35x
SkipReadOnlyValidationGCE 28A- 29D+ 31x
StableLoadBalancerNodeSet 27B+ 30G+! 32x
StaleControllerConsistencyDaemonSet 36B+
StaleControllerConsistencyHPA 37B+
StaleControllerConsistencyJob 36B+
StaleControllerConsistencyReplicaSet 36B+
StaleControllerConsistencyStatefulSet 36B+
StartupProbe 22G+! 23x
StatefulSetAutoDeletePVC 23A- 27B+ 32G+! 35x
StatefulSetMinReadySeconds 22A- 23B+ 25G+! 27x
StatefulSetRecreateStrategy 37A-
StatefulSetSemanticRevisionComparison 34B+
StatefulSetStartOrdinal 26A- 27B+ 31G+! 34x
StorageCapacityScoring 33A- 37B+
StorageNamespaceIndex 30B+ 33D+
StorageObjectInUseProtection 22G+ 23G+! 25x
StorageVersionAPI 22A-
StorageVersionHash 22B+
StorageVersionMigrator 30A- 35B- 37G+
StreamingCollectionEncodingToJSON 33B+ 34G+! 37x
StreamingCollectionEncodingToProtobuf 33B+ 34G+! 37x
StreamingProxyRedirects 22D- 24x
StrictCostEnforcementForVAP 30B- 32G+! 35x
StrictCostEnforcementForWebhooks 30B- 32G+! 35x
StrictIPCIDRValidation 33A- 36B+
StructuredAuthenticationConfiguration 29A- 30B+ 34G+! 37x
StructuredAuthenticationConfigurationEgressSelector 34B+
StructuredAuthenticationConfigurationJWKSMetrics 35B+
StructuredAuthorizationConfiguration 29A- 30B+ 32G+! 36x
SupplementalGroupsPolicy 31A- 33B+ 35G+!
SupportNodePidsLimit 22G+! 23x
SupportPodPidsLimit 22G+! 23x
SuspendJob 22B+ 24G+! 26x
Sysctls 22G+! 23x
SystemdWatchdog 32B+ 35G+!
TTLAfterFinished 22B+ 23G+! 25x
TaintTolerationComparisonOperators 35A-
TokenRequestServiceAccountUIDValidation 34B+
TopologyAwareHints 22A- 23B- 24B+ 33G+! 36x
TopologyAwareWorkloadScheduling 36A-
TopologyManager 22B+ 27G+! 29x
TopologyManagerPolicyAlphaOptions 26A-
TopologyManagerPolicyBetaOptions 26B- 28B+
TopologyManagerPolicyOptions 26A- 28B+ 32G+ 36G+!
TranslateStreamCloseWebsocketRequests 29A- 30B+
UnauthenticatedHTTP2DOSMitigation 25B- 29B+
UnknownVersionInteroperabilityProxy 28A- 36B+
UnlockWhileProcessingFIFO 36B+
UserNamespacesHostNetworkSupport 35A-
UserNamespacesPodSecurityStandards 29A- 35x
UserNamespacesStatelessPodsSupport 25A- 28x
UserNamespacesSupport 28A- 30B- 33B+ 36G+!
ValidateProxyRedirects 22D+ 24x
ValidatingAdmissionPolicy 26A- 28B- 30G+! 32x
VolumeAttributesClass 29A- 31B- 34G+ 36G+!
VolumeBindMountOptions 37A-
VolumeCapacityPriority 22A- 33x
VolumeLimitScaling 35A- 37B+
VolumeSubpath 22G+ 23G+! 25x
WarningHeaders 22G+! 24x
WatchBookmark 22G+! 33x
WatchCacheInitializationPostStartHook 31B- 36B+ 37G+!
WatchFromStorageWithoutResourceVersion 27B- 33D-! 36x
WatchList 27A- 32B+ 33B- 34B+
WatchListClient 30B- 35B+
WatchListCompression 37B+
WebhookRoundTripLoadBalancing 37B+
WinDSR 22A- 33B+ 34G+!
WinOverlay 22B+ 34G+!
WindowsCPUAndMemoryAffinity 32A-
WindowsEndpointSliceProxying 22G+! 25x
WindowsGracefulNodeShutdown 32A- 34B+
WindowsHostNetwork 26A+ 33D-
WindowsHostProcessContainers 22A- 23B+ 26G+! 28x
WorkloadAwarePreemption 36A- 37x
WorkloadWithJob 36A-
ZeroLimitedNominalConcurrencyShares 29B- 30G+! 32x
csiMigrationRBD 23A- 24x
"""

DEPENDENCIES = """\
AuthorizeNodeWithSelectors 35:AuthorizeWithSelectors 37:
ClusterTrustBundleProjection 35:ClusterTrustBundle
CompositePodGroup 37:GenericWorkload,TopologyAwareWorkloadScheduling
DRAAdminAccess 35:DynamicResourceAllocation
DRAConsumableCapacity 35:DynamicResourceAllocation
DRADerivedAttributes 37:DynamicResourceAllocation
DRADeviceBindingConditions 35:DRAResourceClaimDeviceStatus,DynamicResourceAllocation
DRADeviceCompatibilityGroups 37:DRAPartitionableDevices,DynamicResourceAllocation
DRADeviceTaintRules 35:DRADeviceTaints
DRADeviceTaints 35:DynamicResourceAllocation
DRAExtendedResource 35:DynamicResourceAllocation
DRAFractionalCapacityRange 37:DRAConsumableCapacity
DRAListTypeAttributes 36:DynamicResourceAllocation
DRANodeAllocatableResources 36:DynamicResourceAllocation
DRAOptionalNodeOperations 37:DynamicResourceAllocation,NodeDeclaredFeatures
DRAPartitionableDevices 35:DynamicResourceAllocation
DRAPartitionableDevicesType 37:DRAPartitionableDevices,DRAResourcePoolStatus,DynamicResourceAllocation
DRAPrioritizedList 35:DynamicResourceAllocation
DRAResourceClaimGranularStatusAuthorization 36:DRAResourceClaimDeviceStatus,DynamicResourceAllocation
DRAResourcePoolStatus 36:DynamicResourceAllocation
DRASchedulerFilterTimeout 35:DynamicResourceAllocation
DRAWorkloadResourceClaims 36:DynamicResourceAllocation,GenericWorkload
DeclarativeValidationBeta 36:DeclarativeValidation
DeclarativeValidationTakeover 35:DeclarativeValidation
DisableAllocatorDualWrite 35:MultiCIDRServiceAllocator
EventedPLEG 37:PLEGOnDemandRelist
ExtendWebSocketsToKubelet 36:NodeDeclaredFeatures
GangScheduling 35:GenericWorkload 37:
GracefulNodeShutdownBasedOnPodPriority 35:GracefulNodeShutdown
H2CContainerProbe 37:NodeDeclaredFeatures
ImageVolumeWithDigest 36:ImageVolume
InPlacePodLevelResourcesVerticalScaling 35:InPlacePodVerticalScaling,NodeDeclaredFeatures,PodLevelResources
InPlacePodVerticalScalingAllocatedStatus 35:InPlacePodVerticalScaling 36:
InPlacePodVerticalScalingExclusiveCPUs 35:InPlacePodVerticalScaling
InPlacePodVerticalScalingExclusiveMemory 35:InPlacePodVerticalScaling,MemoryManager 36:InPlacePodVerticalScaling
InPlacePodVerticalScalingInitContainers 36:InPlacePodVerticalScaling,NodeDeclaredFeatures
InPlacePodVerticalScalingMemoryBackedVolumes 37:InPlacePodVerticalScaling,NodeDeclaredFeatures
InPlacePodVerticalScalingSchedulerPreemption 37:InPlacePodVerticalScaling
KubeletAllocatedPodsEndpoint 37:InPlacePodVerticalScaling
MatchLabelKeysInPodTopologySpreadSelectorMerge 35:MatchLabelKeysInPodTopologySpread
NodeControllerLeaseCircuitBreaker 37:AtomicFIFO
PodCertificateRequest 35:AuthorizeNodeWithSelectors 37:
PodGroupPreemptionPolicy 37:GenericWorkload
PodLevelResourceManagers 36:PodLevelResources
PodLevelResourcesFixDefaulting 37:PodLevelResources
PodLevelResourcesFixKubeletQOSClass 37:PodLevelResources
PodLifecycleSleepActionAllowZero 35:PodLifecycleSleepAction 37:
ProcMountType 35:UserNamespacesSupport
ResourceHealthStatus 35:DynamicResourceAllocation
ResourceHealthStatusMessage 36:ResourceHealthStatus
RestartAllContainersOnContainerExits 35:ContainerRestartRules,NodeDeclaredFeatures
ServiceAccountTokenNodeBinding 35:ServiceAccountTokenNodeBindingValidation
StaleControllerConsistencyDaemonSet 36:AtomicFIFO
StaleControllerConsistencyHPA 37:AtomicFIFO
StaleControllerConsistencyJob 36:AtomicFIFO
StaleControllerConsistencyReplicaSet 36:AtomicFIFO
StaleControllerConsistencyStatefulSet 36:AtomicFIFO
StorageVersionAPI 35:APIServerIdentity
StructuredAuthenticationConfigurationEgressSelector 35:StructuredAuthenticationConfiguration 37:
StructuredAuthenticationConfigurationJWKSMetrics 35:StructuredAuthenticationConfiguration 37:
TopologyAwareWorkloadScheduling 36:GenericWorkload
UnknownVersionInteroperabilityProxy 35:APIServerIdentity
UserNamespacesHostNetworkSupport 35:UserNamespacesSupport 36:NodeDeclaredFeatures,UserNamespacesSupport
WindowsCPUAndMemoryAffinity 35:MemoryManager 36:
WindowsGracefulNodeShutdown 35:GracefulNodeShutdown
WorkloadAwarePreemption 36:GangScheduling 37:
WorkloadWithJob 36:GenericWorkload
"""
"""Which gates a gate that is on needs to be on, and from which minor (1.35 began to check); no name is none."""

READ_BY_SCHEDULER = """\
CSIMigration CSIMigrationAWS CSIMigrationAzureDisk CSIMigrationGCE CSIMigrationOpenStack CSIMigrationPortworx
CSIMigrationRBD CSIStorageCapacity CompositePodGroup DRAAdminAccess DRAConsumableCapacity DRAControlPlaneController
DRADerivedAttributes DRADeviceBindingConditions DRADeviceCompatibilityGroups DRADeviceTaintRules DRADeviceTaints
DRAExtendedResource DRAFractionalCapacityRange DRAListTypeAttributes DRANodeAllocatableResources
DRAOptionalNodeOperations DRAPartitionableDevices DRAPrioritizedList DRAResourceClaimDeviceStatus
DRASchedulerFilterTimeout DRAWorkloadResourceClaims DefaultPodTopologySpread DynamicResourceAllocation GangScheduling
GenericEphemeralVolume GenericWorkload InPlacePodLevelResourcesVerticalScaling InPlacePodVerticalScaling
InPlacePodVerticalScalingSchedulerPreemption InterPodAffinityHostnameFastPath LocalStorageCapacityIsolation
MatchLabelKeysInPodTopologySpread MinDomainsInPodTopologySpread NodeDeclaredFeatures
NodeInclusionPolicyInPodTopologySpread NominatedNodeNameForExpectation OpportunisticBatching
PodAffinityNamespaceSelector PodDisruptionBudget PodDisruptionConditions PodGroupPreemptionPolicy PodLevelResources
PodOverhead PodSchedulingReadiness PreferNominatedNode ReadWriteOncePod SchedulerAsyncAPICalls
SchedulerAsyncPreemption SchedulerPopFromBackoffQ SchedulerPreQueueingHints SchedulerQueueingHints SidecarContainers
StorageCapacityScoring TaintTolerationComparisonOperators TopologyAwareWorkloadScheduling VolumeAttributesClass
VolumeCapacityPriority VolumeLimitScaling WorkloadAwarePreemption
"""
"""The gates that the scheduler or one of its plugins reads in any of these minors; others change nothing here."""
