package main

import (
	autoscaling "k8s.io/api/autoscaling/v2"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// scaledObject is the part of KEDA's type of that name, at 2.21, that users write: its own package needs
// controller-runtime and all of client-go.
type scaledObject struct {
	meta.TypeMeta   `json:",inline"`
	meta.ObjectMeta `json:"metadata"`
	Spec            struct {
		ScaleTargetRef struct {
			Name                   string `json:"name"`
			APIVersion             string `json:"apiVersion"`
			Kind                   string `json:"kind"`
			EnvSourceContainerName string `json:"envSourceContainerName"`
		} `json:"scaleTargetRef"`
		PollingInterval       *int32 `json:"pollingInterval"`
		InitialCooldownPeriod *int32 `json:"initialCooldownPeriod"`
		CooldownPeriod        *int32 `json:"cooldownPeriod"`
		IdleReplicaCount      *int32 `json:"idleReplicaCount"`
		MinReplicaCount       *int32 `json:"minReplicaCount"`
		MaxReplicaCount       *int32 `json:"maxReplicaCount"`
		Advanced              struct {
			HorizontalPodAutoscalerConfig struct {
				Behavior *autoscaling.HorizontalPodAutoscalerBehavior `json:"behavior"`
				Name     string                                       `json:"name"`
			} `json:"horizontalPodAutoscalerConfig"`
			RestoreToOriginalReplicaCount bool `json:"restoreToOriginalReplicaCount"`
		} `json:"advanced"`
		Fallback struct {
			FailureThreshold int32 `json:"failureThreshold"`
			Replicas         int32 `json:"replicas"`
		} `json:"fallback"`
		Triggers []struct {
			Type              string            `json:"type"`
			Name              string            `json:"name"`
			UseCachedMetrics  bool              `json:"useCachedMetrics"`
			Metadata          map[string]string `json:"metadata"`
			AuthenticationRef struct {
				Name string `json:"name"`
				Kind string `json:"kind"`
			} `json:"authenticationRef"`
			MetricType autoscaling.MetricTargetType `json:"metricType"`
		} `json:"triggers"`
	} `json:"spec"`
}
